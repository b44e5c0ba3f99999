"""The interface for programs: `/api/v1`, one module for each resource."""
