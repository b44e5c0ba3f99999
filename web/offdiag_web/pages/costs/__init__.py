"""Cost matrices: the list, a matrix with its versions, and the form for a new one."""
