"""Search by name."""
