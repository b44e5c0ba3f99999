"""From what services return to what travels."""
