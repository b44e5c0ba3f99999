"""Slices of a run: for whom it fails."""
