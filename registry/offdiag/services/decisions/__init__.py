"""Decision rules on the scores of a run under costs, and keeping their predictions as a run."""
