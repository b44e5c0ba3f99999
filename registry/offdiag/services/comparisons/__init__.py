"""Comparisons of stored runs: which can be compared, on which samples, and with what result."""
