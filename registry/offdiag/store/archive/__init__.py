"""Archives: rows of a registry in one file that a registry on either database can read."""
