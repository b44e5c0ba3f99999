"""Checking that what is stored is whole and says what the predictions say."""
