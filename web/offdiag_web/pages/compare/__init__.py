"""Comparison of two or more runs on the examples they share."""
