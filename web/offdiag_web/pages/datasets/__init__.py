"""Datasets, the differences of their label versions, and the impact of a correction."""
