"""Commands that log runs, and bring them from other tools and archives."""
