"""One module per page: parse the address, call one service, present."""
