"""Metrics of scores: how well they separate classes, and whether they can be believed."""
