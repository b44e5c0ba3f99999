"""Schedules of reports: stored in our own tables, run by whichever scheduler gets there first."""
