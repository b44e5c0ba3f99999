"""Schedules: plans in our own tables, turned into reports by whoever ticks first."""
