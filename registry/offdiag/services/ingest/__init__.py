"""Taking predictions and matrices in: all of a request is stored, or nothing."""
