"""Flags: rules that report problems of a run, with evidence, and the life cycle of a flag."""
