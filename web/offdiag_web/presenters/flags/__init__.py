"""Flags as pages show them."""
