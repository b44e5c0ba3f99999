"""Metrics of scores: how well they separate classes, and how far they may be believed."""
