"""Samples: their content, suspect labels, and drafts of label corrections."""
