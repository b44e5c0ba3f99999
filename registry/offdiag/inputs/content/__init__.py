"""What samples look like, as it is given and as it is stored."""
