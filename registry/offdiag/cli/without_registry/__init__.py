"""Commands that need no registry."""
