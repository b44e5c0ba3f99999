"""Comparison of runs: what differs, whether that is more than chance, and how to say it."""
