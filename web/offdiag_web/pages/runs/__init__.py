"""The list of runs, and saved views of it."""
