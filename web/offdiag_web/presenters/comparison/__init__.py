"""Comparisons as pages show them; one module for each part of the page."""
