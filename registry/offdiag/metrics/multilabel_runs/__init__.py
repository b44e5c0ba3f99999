"""Comparison of multi-label runs, the cost of their errors, and which labels they confuse."""
