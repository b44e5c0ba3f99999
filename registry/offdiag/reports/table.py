"""A table of texts, the same for every form a report is written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_ROWS = 50


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` name what stands in each row; a `note` says what a reader could get wrong."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def table_of(
    title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], note: str = ""
) -> Table | None:
    """A table of the first `MOST_ROWS` rows, None where there are none."""
    if not rows:
        return None
    if len(rows) > MOST_ROWS:
        cut = f"{MOST_ROWS} of {len(rows):,} lines; all are in the CSV and JSON files."
        note = f"{note} {cut}".strip()
    return Table(title, columns, tuple(rows[:MOST_ROWS]), note)
