"""Comparing stored runs: read side by side, paired by example, kept for the next reader."""
