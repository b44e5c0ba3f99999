"""The audit: checking published numbers against each other."""
