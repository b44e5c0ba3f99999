"""Text that a spreadsheet leaves as it is.

A spreadsheet runs what begins like a formula. An apostrophe in front is its own mark for text;
one more goes before text that has such a mark already, so that the mark can be taken off again.
"""

from __future__ import annotations

# The last four are the signs of full width, which some spreadsheets read like the plain ones.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def marked_as_text(text: str) -> str:
    """The text with an apostrophe in front, if a spreadsheet would run it."""
    return f"'{text}" if _looks_like_a_formula(text) else text


def without_mark(text: str) -> str:
    """The text that `marked_as_text` was given."""
    is_marked = text.startswith("'") and _looks_like_a_formula(text)
    return text[1:] if is_marked else text


def _looks_like_a_formula(text: str) -> bool:
    return text.lstrip("'").startswith(_FORMULA_STARTS)
