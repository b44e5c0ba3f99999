"""Pages of reports: the list, one report, one issue, and the form."""
