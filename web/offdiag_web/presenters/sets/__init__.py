"""Runs whose cases carry sets of labels."""
