"""What samples look like, and which labels are suspect."""
