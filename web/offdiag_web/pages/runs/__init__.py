"""The runs list and saved views of it."""
