"""What a sortable column says about itself."""

from __future__ import annotations

from typing import Literal

AriaSort = Literal["ascending", "descending", "none"]


def aria_sort(*, is_current: bool, descending: bool) -> AriaSort:
    """The value of `aria-sort` for a column head."""
    if not is_current:
        return "none"
    return "descending" if descending else "ascending"
