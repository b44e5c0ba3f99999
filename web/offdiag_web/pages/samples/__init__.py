"""Pages of samples: what they look like, and which labels are wrong."""
