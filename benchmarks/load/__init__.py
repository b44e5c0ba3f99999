"""A registry of 100,000 runs: filling it, asking for its pages, and logging to it meanwhile."""
