"""Comparison of two runs on the same samples: tests, intervals of differences, multiplicity."""
