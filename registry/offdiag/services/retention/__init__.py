"""What is kept and for how long: deleted runs, old results, archives and backups."""
