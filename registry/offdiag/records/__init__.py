"""The bodies of requests and responses, defined once for servers and clients."""
