"""Pages of samples: their content, and wrong labels."""
