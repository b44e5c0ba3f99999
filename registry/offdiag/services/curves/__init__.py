"""Curves of the scores of a run, as they were drawn when it was evaluated."""
