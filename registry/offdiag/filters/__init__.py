"""The language in which runs are searched: what a condition is, and how its text is read."""
