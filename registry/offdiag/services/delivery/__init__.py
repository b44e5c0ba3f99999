"""Delivering editions: kept apart from computing them, tried again by itself, never followed
anywhere it was not told to go."""
