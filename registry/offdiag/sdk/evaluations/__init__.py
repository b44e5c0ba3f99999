"""Evaluating in memory, and what evaluations look like: no database, no server, nothing stored."""
