"""Commands that show and compare runs, costs and reports."""
