"""Judging runs by the conditions of a gate."""
