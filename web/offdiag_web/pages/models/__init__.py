"""The runs of one model."""
