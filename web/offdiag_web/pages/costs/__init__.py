"""Cost matrices: the list, one with its versions, and the form for a new one."""
