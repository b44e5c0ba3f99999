"""What the errors of a multi-label run cost."""
