"""Logging frames of any library: their rows batch by batch, or only their counts."""
