"""Runs by the values of slice columns: counted, compared, and how fair they are."""
