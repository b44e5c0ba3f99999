"""Intervals of proportions and metrics: how far a measured value may be from the true one."""
