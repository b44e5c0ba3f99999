"""Flags of runs: what the rules say, and what people make of it."""
