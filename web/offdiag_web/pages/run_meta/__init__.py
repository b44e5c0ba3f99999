"""The details of a run, and pinning it as baseline."""
