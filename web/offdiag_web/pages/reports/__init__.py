"""Reports: the list, a report with its editions, and the form of its schedule."""
