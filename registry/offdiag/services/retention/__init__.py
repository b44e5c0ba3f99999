"""Retention: deleted runs, old results, project archives and backups."""
