"""Samples on pages: what they look like, and their pictures as responses."""
