"""Runs beside each other: what differs, whether that is more than chance, and in which words."""
