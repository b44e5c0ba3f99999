"""Applying a decision rule by costs to the scores of a run, and saving the result as a run."""
