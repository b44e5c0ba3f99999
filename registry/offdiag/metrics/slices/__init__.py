"""Slices of an evaluation: what they are counted from, and which are worse than the rest."""
