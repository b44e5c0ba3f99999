"""Datasets, the differences between their label versions, and the impact of a correction."""
