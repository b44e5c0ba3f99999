"""Runs in sentences and tables are letters, in the order in which they were named."""

from __future__ import annotations

from string import ascii_uppercase

MOST_RUNS = len(ascii_uppercase)
"""As many runs as there are letters are compared at once."""


def letter(position: int) -> str:
    """ "A" for position 0, at most `MOST_RUNS` of them."""
    return ascii_uppercase[position]
