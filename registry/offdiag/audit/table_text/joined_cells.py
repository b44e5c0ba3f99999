"""Cells of a matrix that ran together, "726280" for 72, 6, 2 and 80, parted again.

Text copied from PDF files and web pages loses the gaps between narrow cells. The number of
heads and printed totals leave few ways to part the digits, mostly one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product

from offdiag.audit.table_text.blocks import Row, Words, axis_word, named_by_axis
from offdiag.audit.table_text.cells import Value
from offdiag.audit.table_text.headers import recognised

MOST_WAYS = 12
"""With more ways to part the cells, none is taken."""
_MOST_TRIED = 2_000
_MOST_COMBINED = 5_000
_MOST_HEADS = 12
_LONGEST_DIGITS = 24
_MOST_LINES = 12
_DIGITS_BEHIND = re.compile(r"[^\d,.](\d{2,24})$")

Parts = list[Row | Words]
Cells = tuple[int, ...]


def ways_to_read(parts: Sequence[Row | Words]) -> list[Parts]:
    """The lines with the cells of a matrix parted, once for each way that its totals allow.

    One way, the lines as they are, where nothing ran together or too many ways are left.
    """
    found = _matrix_rows(parts)
    if found is None:
        return [list(parts)]
    places, rows, heads = found
    has_total = _is_total(heads[-1])
    choices = [_ways(row, len(heads), has_total=has_total) for row in rows]
    n_combined = 1
    for choice in choices:
        n_combined *= len(choice)
    if not 0 < n_combined <= _MOST_COMBINED:
        return [list(parts)]
    below = [_is_total(row.label) for row in rows]
    matrices = [way for way in product(*choices) if _adds_up(way, below)]
    if not 0 < len(matrices) <= MOST_WAYS:
        return [list(parts)]
    return [_with_cells(parts, places, rows, way) for way in matrices]


def _matrix_rows(
    parts: Sequence[Row | Words],
) -> tuple[list[int], list[Row], list[str]] | None:
    """Rows of whole numbers under a head that names an axis, if some have too few numbers."""
    for place, part in enumerate(parts):
        heads = _class_heads(parts[: place + 1])
        if heads is None or not isinstance(part, Words):
            continue
        rows: dict[int, Row] = {}
        for at in range(place + 1, len(parts)):
            row = _as_row(parts[at], heads[len(rows) : len(rows) + 1])
            if row is None:
                break
            rows[at] = row
        n_classes = len(heads) - _is_total(heads[-1])
        if len(rows) >= n_classes and any(len(r.values) < len(heads) for r in rows.values()):
            return list(rows), list(rows.values()), heads
    return None


def _class_heads(parts: Sequence[Row | Words]) -> list[str] | None:
    """The names of classes behind "Predicted" in the last lines, with a total perhaps."""
    last = [part for part in parts[-_MOST_LINES:] if isinstance(part, Words)]
    words = [word for part in last for word in part.words]
    if not words or not isinstance(parts[-1], Words):
        return None
    repeated = named_by_axis(words) if axis_word(words[0]) is not None else []
    if len(repeated) > 1:
        return repeated
    cells = list(parts[-1].cells) if len(parts[-1].cells) > 1 else parts[-1].words
    named = [cell for cell in cells if cell and axis_word(cell) is None and cell != "class"]
    has_axis = any(axis_word(word) is not None for word in parts[-1].words)
    return named if has_axis and 2 <= len(named) <= _MOST_HEADS else None


def _as_row(part: Row | Words, head: list[str]) -> Row | None:
    """A line of whole numbers, also where the first of them is glued to the label."""
    if isinstance(part, Row):
        found = recognised(part.label)
        if found is not None and found.meaning.is_metric:
            return None
        if part.label and all(v is not None and v.digits is not None for v in part.values):
            return part
        number, text = part.line, part.text
    else:
        number, text = part.line.number, part.line.text
    start = text.rfind(head[0]) + len(head[0]) if head and head[0] in text else None
    if start is None:
        glued = _DIGITS_BEHIND.search(text[-40:])
        start = None if glued is None else len(text) - len(glued.group(1))
    digits = "" if start is None else text[start:].strip().replace(",", "")
    if not (digits.isascii() and digits.isdigit()):
        return None
    return Row(number, text, text[:start].strip(), (Value((digits,)),), 1, is_aligned=False)


def _ways(row: Row, n_cells: int, *, has_total: bool) -> list[Cells]:
    """All ways to part the digits of a row, its total at the end right if it has one.

    None at all where there are too many to try.
    """
    tokens = [value.digits or "" for value in row.values if value is not None]
    if sum(map(len, tokens)) > _LONGEST_DIGITS:
        return []
    tried = list(islice(_parted(tokens, n_cells), _MOST_TRIED + 1))
    if len(tried) > _MOST_TRIED:
        return []
    return [cells for cells in tried if not has_total or sum(cells[:-1]) == cells[-1]]


def _parted(tokens: list[str], n_cells: int) -> Iterator[Cells]:
    """Each token as one number or several, `n_cells` in all, none with a leading zero."""
    first, rest = tokens[0], tokens[1:]
    if not rest:
        yield from _digits_parted(first, n_cells)
        return
    most = min(len(first), n_cells - len(rest))
    fewest = max(1, n_cells - sum(map(len, rest)))
    for n_first in range(fewest, most + 1):
        for cells in _digits_parted(first, n_first):
            for others in _parted(rest, n_cells - n_first):
                yield (*cells, *others)


def _digits_parted(digits: str, n_cells: int) -> Iterator[Cells]:
    if len(digits) < n_cells:
        return
    if n_cells == 1:
        if digits == "0" or not digits.startswith("0"):
            yield (int(digits),)
        return
    longest = 1 if digits.startswith("0") else len(digits) - n_cells + 1
    for length in range(1, longest + 1):
        for others in _digits_parted(digits[length:], n_cells - 1):
            yield (int(digits[:length]), *others)


def _adds_up(way: Sequence[Cells], is_total: Sequence[bool]) -> bool:
    """Whether a line of totals is the sum of the others; True without such a line."""
    above = [cells for cells, total in zip(way, is_total, strict=True) if not total]
    sums = tuple(sum(column) for column in zip(*above, strict=True))
    return all(cells == sums for cells, total in zip(way, is_total, strict=True) if total)


def _with_cells(
    parts: Sequence[Row | Words], places: list[int], rows: list[Row], way: Sequence[Cells]
) -> Parts:
    changed = list(parts)
    for place, row, cells in zip(places, rows, way, strict=True):
        changed[place] = replace(row, values=tuple(Value((str(cell),)) for cell in cells))
    return changed


def _is_total(name: str) -> bool:
    found = recognised(name)
    return found is not None and found.meaning.what == "total"
