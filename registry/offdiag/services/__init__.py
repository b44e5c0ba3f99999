"""Use cases of the registry. Each function does one thing for a user, in its own transaction."""
