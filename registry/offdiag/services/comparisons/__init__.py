"""Comparing stored runs: which can be compared, on which samples, and what is found."""
