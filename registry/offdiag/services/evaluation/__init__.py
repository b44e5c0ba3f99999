"""Evaluation of runs: read the inputs, compute all metrics, write everything at once."""
