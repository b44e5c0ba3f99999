"""Lines as tables: rows of numbers after a label, and the headers over their columns.

A row has one number for each header, or it is a name with its number. A line that looks like part
of a table but is neither is refused, because reading on would put numbers under wrong headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from offdiag.audit.table_text.cells import (
    MOST_CELLS,
    NOTHING,
    Line,
    Value,
    name_run_into_number,
    read_value,
    run_together,
)
from offdiag.audit.table_text.headers import (
    axis_word,
    is_stub,
    metric_spans,
    recognised,
    stub_names,
    without_formula,
)
from offdiag.errors import InvalidInput

_PERCENTAGE = re.compile(r"\d ?%")
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")
_CLASS_NUMBER = re.compile(r"-?\d{1,9}(\.0)?")
_LONGEST_SHOWN = 60
_LONGEST_PAIRED = 4
"""Words of a name if several names are in a line, each with its number."""


@dataclass(frozen=True, slots=True)
class Row:
    """Numbers after a label; None where there are words in place of a number.

    `labels` are the cells that make up the label, as far as they are separate.
    """

    line: int
    text: str
    label: str
    values: tuple[Value | None, ...]
    labels: tuple[str, ...] = ()
    is_aligned: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Headers of the columns, empty if there are none, and rows of equal length.

    `corner` is the header over the labels, each of `n_labels` cells, and `above` are the lines
    over the first row, where axes and units are named.
    """

    heads: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    corner: str = ""
    above: tuple[str, ...] = ()
    n_labels: int = MOST_CELLS


def tables_in(lines: Sequence[Line]) -> tuple[list[Table], list[tuple[int, str]]]:
    """The tables of a text, and the lines that are not part of one, by their position.

    Raises `InvalidInput` for a line of a table whose cells cannot be separated.
    """
    found = _Tables()
    for line in lines:
        for part in _parts(line) if line.text else ():
            if isinstance(part, Line):
                found.waiting.append(part)
            else:
                found.add(part)
    return found.finished()


def is_class_number(text: str) -> bool:
    """Whether a text is a number that can name a class: 0, -1, or 1.0 if it was a float."""
    return _CLASS_NUMBER.fullmatch(text) is not None


def _refused(line: int, text: str, what: str) -> InvalidInput:
    return InvalidInput(
        f"line {line}, {text[:_LONGEST_SHOWN]!r}, {what}.",
        field="table",
        hint="Put each row on a line of its own, a tab or a bar between its cells, and a header "
        "over each column; write - for a cell that is left out.",
    )


def _parts(line: Line) -> Iterator[Row | Line]:
    """A line as rows: one, or one for each name with its number; the line if it holds words."""
    values = [read_value(cell) for cell in line.cells]
    groups = list(_groups(values))
    name = name_run_into_number(line.text)
    if any(run_together(c) for c, v in zip(line.cells, values, strict=True) if v is None) or (
        name is not None and recognised(name) is not None
    ):
        raise _refused(line.number, line.text, "has cells that run together")
    if not groups:
        yield line
        return
    rows = [_row(line, values, start, end) for start, end in groups]
    if len(rows) == 1 or line.is_aligned:
        are_pairs = len(rows) > 1 and _are_pairs(rows)
        yield from rows if are_pairs else [_row(line, values, 0, len(values))]
    elif _are_pairs(rows):
        yield from rows
    elif any(recognised(row.label) for row in rows) or {"actual", "predicted"} <= set(
        map(axis_word, line.text.split())
    ):
        raise _refused(line.number, line.text, "has more than one row")
    else:
        # A label with a number in it, such as "forest of 100 trees", or prose.
        last = rows[-1]
        label = " ".join(line.cells[: groups[-1][0] + len(last.labels)])
        yield replace(last, text=line.text, label=label) if len(last.values) > 1 else line


def _groups(values: Sequence[Value | None]) -> Iterator[tuple[int, int]]:
    """Where names with the numbers after them begin and end; nothing for one without a number."""
    numbers = [at for at, value in enumerate(values) if value is not None and value.numbers]
    start = 0
    for at in range(1, len(values)):
        is_name = values[at] is None and values[at - 1] is not None
        if is_name and any(start <= n < at for n in numbers) and numbers[-1] > at:
            yield start, at
            start = at
    if numbers:
        yield start, len(values)


def _row(line: Line, values: Sequence[Value | None], start: int, end: int) -> Row:
    first = start
    if end - start > 2 and _class_number(values[start]) and values[start + 1] is None:
        first += 1  # The number of a row before its name, as printed by data frames.
    while first < end and (values[first] is None or (first == start and not line.cells[first])):
        first += 1
    text = " ".join(cell for cell in line.cells[start:end] if cell)
    while end > first and values[end - 1] is None and not line.is_aligned:
        end -= 1
    label = " ".join(cell for cell in line.cells[start:first] if cell)
    kept = tuple(values[first:end])
    name = without_formula(label)
    if _PERCENTAGE.search(label[len(name) :]):
        raise _refused(line.number, line.text, "has cells that run together")
    return Row(line.number, text, name, kept, line.cells[start:first], line.is_aligned)


def _are_pairs(rows: Sequence[Row]) -> bool:
    """Whether each row is a name with one number, and some name is that of a metric."""
    return all(
        0 < len(row.label.split()) <= _LONGEST_PAIRED and len(_numbers(row)) == 1 for row in rows
    ) and any(recognised(row.label) is not None for row in rows)


def _numbers(row: Row) -> list[Value]:
    return [value for value in row.values if value is not None and value.numbers]


@dataclass(slots=True)
class _Tables:
    """Tables found so far, the open one, and words that wait for what comes next."""

    waiting: list[Line] = field(default_factory=list)
    closed: list[Table] = field(default_factory=list)
    open: Table | None = None
    rows: list[Row] = field(default_factory=list)
    unread: list[tuple[int, str]] = field(default_factory=list)

    def add(self, row: Row) -> None:
        fitted = None if self.open is None else _fitted(row, self.open, self.rows[-1])
        if self.open is not None and len(self.open.heads) == 1 and not any(self.open.heads):
            fitted = fitted if _is_line_of_its_own(row) else None
        # Words within a table are headers of another one only if they are named like that.
        found = _heads_over(self.waiting, row, by_number=fitted is None)
        first = None if found is None else _fitted(row, found)
        if found is not None and first is not None:
            self._begin(found, first)
        elif fitted is not None:
            self._pass_over()
            self.rows.append(fitted)
        elif (_is_line_of_its_own(row) and not self._has_headers(row)) or _may_be_in_a_matrix(row):
            self._begin(Table(("",) * len(row.values)), row)
        else:
            self._refuse_lost(row)
            self.unread.append((row.line, row.text))

    def finished(self) -> tuple[list[Table], list[tuple[int, str]]]:
        self._close()
        self._pass_over()
        for line, text in sorted(self.unread):
            if axis_word(text.split()[0]) is not None and text[-1].isdigit():
                raise _refused(line, text, "belongs to no matrix")
        return self.closed, sorted(self.unread)

    def _begin(self, table: Table, row: Row) -> None:
        self._close()
        self.open = replace(table, above=tuple(line.text for line in self.waiting))
        if any(table.heads):
            self.waiting = []
        self._pass_over()
        self.rows = [row]

    def _close(self) -> None:
        if self.open is None:
            return
        table = _with_numbers_as_heads(replace(self.open, rows=tuple(self.rows)))
        self.open = None
        if any(table.heads):
            _require_distinct(table)
        if len(table.heads) == 1 or any(table.heads) or not any(r.label for r in table.rows):
            self.closed.append(table)
            return
        for row in table.rows:
            self._refuse_lost(row)
            self.unread.append((row.line, row.text))

    def _pass_over(self) -> None:
        self.unread += [(line.number, line.text) for line in self.waiting]
        self.waiting = []

    def _has_headers(self, row: Row) -> bool:
        """Whether the last words name several metrics and the row names none."""
        words = [word for line in self.waiting[-1:] for word in line.text.split()]
        return recognised(row.label) is None and len(metric_spans(words)) > 1

    def _refuse_lost(self, row: Row) -> None:
        """Refuse a row that belongs to a table, but not to the current headers."""
        heads = () if self.open is None else self.open.heads
        has_axis = axis_word(row.label.split(" ")[0]) is not None
        is_lost = recognised(row.label) is not None or bool(self.waiting) or any(heads)
        if has_axis or self._has_headers(row) or (is_lost and len(row.values) > 1):
            numbers = "1 number" if len(row.values) == 1 else f"{len(row.values)} numbers"
            under = f"{len(heads)} headers" if any(heads) else "no headers that fit"
            name = "" if row.label else " and no name"
            raise _refused(row.line, row.text, f"has {numbers} under {under}{name}")


def _require_distinct(table: Table) -> None:
    """Raise `InvalidInput` if two rows or columns share a name, which would mix their numbers."""
    first = table.rows[0]
    for place, head in enumerate(table.heads):
        if head and head in table.heads[:place]:
            raise _refused(first.line, first.text, f"is below two headers {head!r}")
    seen: set[str] = set()
    for row in table.rows:
        if row.label in seen:
            what = "the name of another row" if row.label else "no name, as another row"
            raise _refused(row.line, row.text, f"has {what}")
        seen.add(row.label)


def _is_line_of_its_own(row: Row) -> bool:
    """Whether it is a name with its number. "Actual A 838" is a line of a matrix."""
    words = row.label.split()
    if not words or len(row.values) > 1:
        return False
    has_sign = any((value.last or "")[:1] in "+-" for value in _numbers(row))
    is_of_matrix = axis_word(words[0]) is not None and (len(words) > 1 or has_sign)
    return not is_of_matrix or recognised(row.label) is not None


def _may_be_in_a_matrix(row: Row) -> bool:
    """Whether it has only whole numbers: cells, or numbers of classes as headers."""
    is_corner = not row.label or any(axis_word(word) for word in row.label.split())
    are_whole = all(value is not None and value.count is not None for value in row.values)
    return is_corner and len(row.values) > 1 and are_whole


def _fitted(row: Row, table: Table, last: Row | None = None) -> Row | None:
    """The row with a value under each header, None if it belongs under other headers.

    It has a label exactly if the `last` row above it has one.
    """
    values, label, heads = row.values, row.label, table.heads
    if row.is_aligned and len(row.labels) > table.n_labels:
        # Words in place of numbers.
        label = without_formula(" ".join(cell for cell in row.labels[: table.n_labels] if cell))
        values = (*(None for _ in row.labels[table.n_labels :]), *values)
    surplus = len(values) - len(heads)
    if surplus > 0:
        first = values[0]
        number = first.last if first and table.corner and not label else _class_number(first)
        if surplus > 1 or number is None or (len(heads) == 1 and not any(heads)):
            return None
        label, values = f"{label} {number}".strip(), values[1:]
    elif surplus < 0:
        missing: tuple[Value | None, ...] = (NOTHING,) * -surplus
        side = _filled_from(row, heads)
        if side is None:
            return None
        values = (*values, *missing) if side == "left" else (*missing, *values)
    elif last is not None and bool(label) != bool(last.label):
        return None
    is_named = stub_names(table.corner) == "models" or not is_stub(table.corner)
    if is_named and _NUMBER.fullmatch(label):
        label = f"{table.corner.strip(' :')} {label}"
    return replace(row, label=label, values=values)


def _filled_from(row: Row, heads: Sequence[str]) -> str | None:
    """The side from which a short row fills the columns, None if that is not clear.

    "accuracy 0.59 54" is at the right end of a report, and a metric below a matrix at its left,
    if there is another metric at the side. Between tabs, cells at the end may be left out, except
    for a metric with its only number below classes or models.
    """
    found, are_metrics = recognised(row.label), [recognised(head) is not None for head in heads]
    n_values = len(row.values)
    if row.is_aligned:
        return None if found is not None and n_values == 1 and not any(are_metrics) else "left"
    if found is not None and found.is_aggregate and any(are_metrics):
        return "right"
    is_below = not any(are_metrics[:n_values]) and all(are_metrics[n_values:])
    return "left" if found is not None and found.is_metric and is_below else None


def _class_number(value: Value | None) -> str | None:
    """The number in a cell that may be the name of a class, None for any other."""
    last = (value and value.last) or ""
    return last if is_class_number(last) else None


def _with_numbers_as_heads(table: Table) -> Table:
    """The table with its first row as headers if classes are numbered: 0 1 2 over 0, 1, 2."""
    first, rest = table.rows[0], table.rows[1:]
    numbers = tuple(_class_number(value) or "" for value in first.values)
    if any(table.heads) or not rest or numbers != tuple(row.label for row in rest):
        return table
    above = (*table.above, first.label) if first.label else table.above
    return Table(numbers, rest, first.label, above)


def _heads_over(waiting: Sequence[Line], row: Row, *, by_number: bool) -> Table | None:
    """A table with the headers of a row from the words before it, None if there are none.

    `by_number` allows headers of which only the number fits.
    """
    lines = list(waiting)
    while len(lines) > 1 and all(axis_word(word) for word in lines[-1].text.split()):
        lines.pop()  # The name of the rows, below the headers.
    if not lines:
        return None
    if len(lines) > 1 and _continues(lines[-1], lines[-2]):
        pairs = zip(lines[-2].cells, lines[-1].cells, strict=True)
        cells = tuple(f"{upper} {lower}".strip() for upper, lower in pairs)
        lines[-2:] = [replace(lines[-1], cells=cells)]
    n_columns, words = len(row.values), lines[-1].text.split()
    found = _in_cells(lines, row) or _named_by_axis(words, n_columns)
    if found is None and recognised(row.label) is None:
        found = _by_metrics(words, row)
    if found is not None:
        return found
    by_number = by_number or any(axis_word(word) is not None for word in words)
    return _by_words(words, n_columns) if by_number else None


def _continues(line: Line, above: Line) -> bool:
    """Whether each cell of a line of headers continues below: "(%)", or "F1" below "Macro"."""
    are_aligned = line.is_aligned and above.is_aligned and len(line.cells) == len(above.cells)
    return are_aligned and not line.cells[0] and all(above.cells[1:])


def _in_cells(lines: Sequence[Line], row: Row) -> Table | None:
    """Headers that already are cells of the last line."""
    n_columns, cells = len(row.values), lines[-1].cells
    if len(cells) < 2 or lines[-1].is_aligned != row.is_aligned:
        return None
    if not row.label and len(cells) in {n_columns, n_columns - 1}:
        # The first number of the row may be the name of a class or of a fold.
        is_name = recognised(cells[0]) is None and not _may_be_in_a_matrix(row)
        has_stub = len(cells) == n_columns and (is_stub(cells[0]) or is_name)
        heads = cells[1:] if has_stub else cells
        return Table(_under(lines, heads), corner=cells[0] if has_stub else "")
    n_labels = len(row.labels)
    if row.is_aligned and len(cells) >= n_columns + n_labels:
        # Cells at the end may be left out, and words may stand in place of numbers.
        metrics = (at for at, cell in enumerate(cells) if at and recognised(cell) is not None)
        n_labels = min(n_labels, next(metrics, n_labels))
        corner = " ".join(cells[:n_labels]).strip()
        return Table(_under(lines, cells[n_labels:]), corner=corner, n_labels=n_labels)
    before = len(cells) - n_columns
    if before not in {0, n_labels, n_labels - 1}:
        return None
    corner = " ".join(cells[:before]).strip()
    return Table(_under(lines, cells[before:]), corner=corner, n_labels=n_labels)


def _under(lines: Sequence[Line], heads: tuple[str, ...]) -> tuple[str, ...]:
    """Headers, each with the name of its group in the line above."""
    groups = [cell for cell in lines[-2].cells if cell] if len(lines) > 1 else []
    if len(groups) < 2 or len(heads) % len(groups):
        return heads
    per_group = len(heads) // len(groups)
    if per_group < 2 or heads != heads[:per_group] * len(groups):
        return heads
    return tuple(f"{groups[place // per_group]} {head}" for place, head in enumerate(heads))


def _by_metrics(words: Sequence[str], row: Row) -> Table | None:
    """Headers that are names of metrics, each with the words before it.

    The first number may be the name of a class, or of whatever the words before the metrics say.
    """
    spans, n_columns = metric_spans(words), len(row.values)
    if not spans or spans[-1][1] < len(words) or (n_columns < 2 and spans[0][0] > 1):
        return None
    is_numbered = len(spans) == n_columns - 1 and n_columns > 2
    if len(spans) != n_columns and not is_numbered:
        return None
    corner = words[: spans[0][0]] if is_numbered or is_stub(words[0]) else []
    if is_numbered and not corner and _class_number(row.values[0]) is None:
        return None
    starts = [len(corner), *(end for _, end in spans[:-1])]
    pairs = zip(starts, (end for _, end in spans), strict=True)
    heads = tuple(" ".join(words[start:end]) for start, end in pairs)
    return Table(heads, corner=" ".join(corner))


def _named_by_axis(words: Sequence[str], n_columns: int) -> Table | None:
    """ "Predicted A (80) Predicted B" split at the repeated name of the axis."""
    axes = [axis_word(word) for word in words]
    starts = [place for place, axis in enumerate(axes) if axis is not None and axis == axes[0]]
    ends = [*starts[1:], len(words)] if starts else []
    heads = (" ".join(words[at + 1 : end]) for at, end in zip(starts, ends, strict=True))
    return Table(tuple(heads)) if len(starts) == n_columns > 1 else None


def _by_words(words: Sequence[str], n_columns: int) -> Table | None:
    """Headers of one word each, perhaps with a bracket: "A B", "A (80) B (15)"."""
    start = 0
    while start < len(words) - 1 and is_stub(words[start]):
        start += 1
    heads: list[str] = []
    for word in words[start:]:
        if heads and (word.startswith("(") or heads[-1].count("(") > heads[-1].count(")")):
            heads[-1] = f"{heads[-1]} {word}"
        else:
            heads.append(word)
    fits = len(heads) == n_columns > 1
    return Table(tuple(heads), corner=" ".join(words[:start])) if fits else None
