"""Checks that stored data is complete and that stored results follow from the predictions."""
