"""Evaluation of weighted samples: sums, metrics, and how uncertain they are."""
