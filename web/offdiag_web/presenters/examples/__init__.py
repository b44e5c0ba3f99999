"""Presenting the predictions behind a number."""
