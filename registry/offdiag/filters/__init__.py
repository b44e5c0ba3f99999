"""The language in which runs are searched: its conditions, and how their text is read."""
