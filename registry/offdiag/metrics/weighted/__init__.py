"""Samples that have weights: what is summed of them, and how uncertain its metrics are."""
