"""Bodies of requests and responses, defined once for the server and its clients."""
