"""The examples behind the cells of a matrix."""
