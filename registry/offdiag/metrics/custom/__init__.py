"""Metrics of one's own: how they are declared, and their values on samples."""
