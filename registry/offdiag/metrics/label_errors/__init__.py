"""Label errors: which labels are probably wrong, and how well such errors are found."""
