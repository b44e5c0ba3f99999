"""Runs by the values of slice columns: counted, compared, and judged by gates."""
