"""Schedules: plans in our own tables, turned into reports by the scheduler that ticks first."""
