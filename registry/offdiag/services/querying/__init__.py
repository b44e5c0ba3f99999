"""Questions in SQL, answered by DuckDB over relations that are read from the registry."""
