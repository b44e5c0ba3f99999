"""Columns out of the bodies of requests, bounded before they are read."""
