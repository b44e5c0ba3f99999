"""The evaluations of a run over time."""
