"""Logging runs: predictions, matrices and counts; all of a request is stored, or nothing."""
