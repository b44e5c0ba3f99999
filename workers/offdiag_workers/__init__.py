"""Processes that work off what the registry asks for: the worker loop and the clock."""
