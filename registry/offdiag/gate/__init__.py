"""Conditions that a run must meet: a small language, and how a run is judged by it."""
