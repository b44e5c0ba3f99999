"""Two and more runs compared on the examples they share."""
