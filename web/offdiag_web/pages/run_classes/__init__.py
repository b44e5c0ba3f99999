"""Every value of every class of a run."""
