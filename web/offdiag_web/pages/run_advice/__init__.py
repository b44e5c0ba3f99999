"""Which metrics suit a run."""
