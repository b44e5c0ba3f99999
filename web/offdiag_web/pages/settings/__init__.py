"""Settings of the reader and of the registry."""
