"""The work queue for people: what waits, what runs, what failed, and trying again."""
