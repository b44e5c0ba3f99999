"""Reports: the list, one with its editions, and the form of its schedule."""
