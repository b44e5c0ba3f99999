"""Intervals of the metrics of sets of labels."""
