"""Slices of a run: where it fails."""
