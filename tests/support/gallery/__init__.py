"""Constructed examples of every component in every state."""
