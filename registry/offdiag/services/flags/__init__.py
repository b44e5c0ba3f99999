"""Flags of runs: what the rules find, and what people decide about it."""
