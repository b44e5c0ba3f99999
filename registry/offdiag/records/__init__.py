"""What travels between a server and its clients: one definition of every body, for both."""
