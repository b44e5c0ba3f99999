"""Checking published numbers against each other."""
