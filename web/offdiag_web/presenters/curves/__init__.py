"""Presenting the curves of scores."""
