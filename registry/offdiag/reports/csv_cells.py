"""Cells of CSV files that are safe to open in a spreadsheet."""

from __future__ import annotations

Cell = str | int | float | None
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_cell(value: Cell) -> str | int | float:
    """A cell as written: numbers stay numbers, undefined is empty, text is only text.

    A spreadsheet runs what begins like a formula. Labels and names are anybody's input, so
    such text gets an apostrophe in front, the spreadsheet's own mark for text.
    """
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value
