"""Cost matrices: their list, their versions with what changed, and the form for a new one."""
