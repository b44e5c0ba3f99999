"""Conditions a run must meet: a small language, and the judgement of a run by it."""
