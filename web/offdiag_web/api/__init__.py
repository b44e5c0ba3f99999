"""The REST API under `/api/v1`, with one module for each resource."""
