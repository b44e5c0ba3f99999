"""Commands that log runs, or import them from other tools and archives."""
