"""Evaluating a run: read its inputs, compute purely, write everything at once."""
