"""Media types by name."""

JSON = "application/json"
