"""Comparison of runs on the same samples: tests, intervals of differences, multiplicity."""
