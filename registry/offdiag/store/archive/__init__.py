"""Rows of a registry in one file that any other registry can read, on either database."""
