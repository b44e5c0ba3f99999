"""Cells of CSV files that are safe to open in a spreadsheet."""

from __future__ import annotations

from offdiag.arrays.files.spreadsheet_text import marked_as_text

Cell = str | int | float | None


def csv_cell(value: Cell) -> str | int | float:
    """A cell as written: numbers stay numbers, undefined is empty, text is only text.

    Labels and names are anybody's input, so text that a spreadsheet would run is marked as text.
    """
    if value is None:
        return ""
    return marked_as_text(value) if isinstance(value, str) else value
