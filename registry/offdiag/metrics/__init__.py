"""The metric core: pure functions over numpy arrays. No SQL, clock, settings or files."""
