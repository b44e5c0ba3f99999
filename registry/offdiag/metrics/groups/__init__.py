"""Comparison of groups of samples: gaps between them, and fairness criteria by their names."""
