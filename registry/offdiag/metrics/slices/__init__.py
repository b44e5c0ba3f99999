"""Slices of an evaluation: how they are counted, and which are worse than the rest."""
