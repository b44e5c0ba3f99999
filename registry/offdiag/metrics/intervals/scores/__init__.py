"""Intervals of the metrics of scores."""
