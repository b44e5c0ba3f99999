"""Preferences of the reader, and facts about the registry."""
