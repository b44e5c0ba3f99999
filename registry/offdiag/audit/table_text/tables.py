"""Lines as tables: rows of numbers behind a label, and the headers over their columns.

A row has one number for each header, or it is a name with its number. A line that looks like part
of a table and is neither is refused, because reading on would put numbers under wrong headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from offdiag.audit.table_text.cells import (
    NOTHING,
    Line,
    Value,
    name_run_into_number,
    read_value,
    run_together,
)
from offdiag.audit.table_text.headers import axis_word, metric_spans, recognised
from offdiag.errors import InvalidInput

_MODEL_STUBS = frozenset(
    {"model", "models", "method", "methods", "classifier", "algorithm", "approach", "dataset"}
    | {"fold", "run", "seed", "split", "trial", "repeat", "experiment", "epoch"}
)
_CLASS_STUBS = frozenset({"class", "classes", "label", "labels", "category", "group"})
_STUBS = _MODEL_STUBS | _CLASS_STUBS | {"metric", "metrics", "measure", "name"}
_PERCENTAGE = re.compile(r"\d ?%")
_CLASS_NUMBER = re.compile(r"-?\d{1,9}(\.0)?")
_MOST_LABEL_CELLS = 3
"""Whole numbers at the start of a row that may belong to its label: "class 1 of 3"."""
_LONGEST_SHOWN = 60
_LONGEST_PAIRED = 4
"""Words of a name where several stand in a line, each with its number."""


@dataclass(frozen=True, slots=True)
class Row:
    """Numbers behind a label; None stands where words are in the place of a number.

    `n_before` is the number of cells that make up the label.
    """

    line: int
    text: str
    label: str
    values: tuple[Value | None, ...]
    n_before: int = 0
    is_aligned: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all of it are whole numbers, as in a matrix."""
        return all(value is not None and value.count is not None for value in self.values)


@dataclass(frozen=True, slots=True)
class Table:
    """Headers of the columns, empty where there are none, and rows of equal length.

    `corner` is the header over the labels, and `above` are the lines over the first row, where
    axes and units are named.
    """

    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    corner: str = ""
    above: tuple[str, ...] = ()

    @property
    def names_models(self) -> bool:
        """Whether the header over the labels says that they are of models."""
        return self.corner.lower().strip(" :") in _MODEL_STUBS

    @property
    def names_classes(self) -> bool:
        """Whether it says that they are of classes."""
        return self.corner.lower().strip(" :") in _CLASS_STUBS


def tables_in(lines: Sequence[Line]) -> tuple[list[Table], list[tuple[int, str]]]:
    """The tables of a text, and the lines that are no part of one, by their place.

    Raises `InvalidInput` for a line of a table whose cells cannot be told apart.
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
    """Whether a text is a number as classes have it: 0, -1, or 1.0 where it was a float."""
    return _CLASS_NUMBER.fullmatch(text) is not None


def _refused(line: int, text: str, what: str) -> InvalidInput:
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    return InvalidInput(
        f"line {line}, {shown!r}, {what}.",
        field="table",
        hint="Put each row on a line of its own, a tab or a bar between its cells, and a header "
        "over each column; write - for a cell that is left out.",
    )


def _parts(line: Line) -> Iterator[Row | Line]:
    """A line as rows: one, or one for each name with its number; itself if it holds words."""
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
    elif any(recognised(row.label) is not None for row in rows) or _both_axes(line.text):
        raise _refused(line.number, line.text, "has more than one row")
    else:
        # A label with a number in it, such as "forest of 100 trees", or prose.
        last = rows[-1]
        label = " ".join(line.cells[: groups[-1][0] + last.n_before])
        yield replace(last, text=line.text, label=label) if len(last.values) > 1 else line


def _groups(values: Sequence[Value | None]) -> Iterator[tuple[int, int]]:
    """Where names with the numbers behind them begin and end; none without a number."""
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
    if end - start > 2 and _is_index(values[start]) and values[start + 1] is None:
        first += 1  # The number of a row before its name, as data frames print it.
    while first < end and (values[first] is None or (first == start and not line.cells[first])):
        first += 1
    text = " ".join(cell for cell in line.cells[start:end] if cell)
    while end > first and values[end - 1] is None and not line.is_aligned:
        end -= 1
    label = " ".join(cell for cell in line.cells[start:first] if cell)
    kept = tuple(values[first:end])
    name = _name(label)
    if _PERCENTAGE.search(label[len(name) :]):
        raise _refused(line.number, line.text, "has cells that run together")
    return Row(line.number, text, name, kept, first - start, line.is_aligned)


def _is_index(value: Value | None) -> bool:
    return value is not None and value.count is not None


def _are_pairs(rows: Sequence[Row]) -> bool:
    """Whether each is a name with one number, and some name is that of a metric."""
    return all(
        0 < len(row.label.split()) <= _LONGEST_PAIRED and len(_numbers(row)) == 1 for row in rows
    ) and any(recognised(row.label) is not None for row in rows)


def _numbers(row: Row) -> list[Value]:
    return [value for value in row.values if value is not None and value.numbers]


def _both_axes(text: str) -> bool:
    return len({axis_word(word) for word in text.split()} - {None}) > 1


def _name(label: str) -> str:
    """A label without the formula behind it: "Precision = TP/(TP+FP)", but not "A (y = 0)"."""
    depth = 0
    for place, character in enumerate(label):
        depth += (character == "(") - (character == ")")
        is_formula = character in "=≈" or (character == ":" and "/" in label[place:])
        if is_formula and depth <= 0 and label[:place].strip():
            return label[:place].strip(" :")
    return label.strip(" :=≈")


@dataclass(slots=True)
class _Tables:
    """Tables found so far, the open one, and words that wait for what comes after them."""

    waiting: list[Line] = field(default_factory=list)
    closed: list[Table] = field(default_factory=list)
    open: Table | None = None
    rows: list[Row] = field(default_factory=list)
    unread: list[tuple[int, str]] = field(default_factory=list)

    def add(self, row: Row) -> None:
        found = _heads_over(self.waiting, row)
        fitted = None if self.open is None else _fitted(row, self.open, self.rows[-1])
        if self.open is not None and len(self.open.heads) == 1 and not any(self.open.heads):
            fitted = fitted if _is_line_of_its_own(row) else None
        if self.open is not None and fitted is not None and (found is None or not found.is_sure):
            self._pass_over()
            self.rows.append(fitted)
        elif found is not None:
            above = tuple(line.text for line in self.waiting)
            self._begin(Table(found.heads, (), found.corner, above), row)
        elif (_is_line_of_its_own(row) and not self._has_headers(row)) or _may_be_in_a_matrix(row):
            above = tuple(line.text for line in self.waiting)
            self._begin(Table(("",) * len(row.values), (), above=above), row)
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
        if any(table.heads):
            self.waiting = []
        self._pass_over()
        self.open = table
        self.rows = [_fitted(row, table) or row]

    def _close(self) -> None:
        if self.open is None:
            return
        table = _with_numbers_as_heads(replace(self.open, rows=tuple(self.rows)))
        if len(table.heads) == 1 or any(table.heads) or not any(r.label for r in table.rows):
            self.closed.append(table)
        else:
            for row in table.rows:
                self._refuse_lost(row)
                self.unread.append((row.line, row.text))
        self.open = None

    def _pass_over(self) -> None:
        self.unread += [(line.number, line.text) for line in self.waiting]
        self.waiting = []

    def _has_headers(self, row: Row) -> bool:
        """Whether the last words name several metrics, and the row has one number for them."""
        words = self.waiting[-1].text.split() if self.waiting else []
        return recognised(row.label) is None and len(metric_spans(words)) > 1

    def _refuse_lost(self, row: Row) -> None:
        """Refuse a row that belongs to a table, but not to the headers that are there."""
        heads = () if self.open is None else self.open.heads
        words = [word for line in self.waiting for word in line.text.split()]
        is_table = (
            recognised(row.label) is not None
            or any(axis_word(word) is not None for word in (*words, *row.label.split()[:1]))
            or bool(metric_spans(words))
            or any(heads)
        )
        n = len(row.values)
        is_of_matrix = axis_word(row.label.split(" ")[0]) is not None
        if is_table and (n > 1 or is_of_matrix or self._has_headers(row)):
            numbers = "1 number" if n == 1 else f"{n} numbers"
            under = f"{len(heads)} headers" if any(heads) else "no headers that fit"
            raise _refused(row.line, row.text, f"has {numbers} under {under}")


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
    return is_corner and len(row.values) > 1 and row.is_whole


def _fitted(row: Row, table: Table, last: Row | None = None) -> Row | None:
    """The row with a value under each header, None if it belongs under other headers.

    Without headers it has a label or none, as the `last` row above it.
    """
    values, label, heads = row.values, row.label, table.heads
    surplus = len(values) - len(heads)
    if surplus > 0:
        leading = [_class_number(value) for value in values[:surplus]]
        most = _MOST_LABEL_CELLS if label and any(heads) else 1
        if surplus > most or None in leading or (len(heads) == 1 and not any(heads)):
            return None
        label = " ".join([label, *(number or "" for number in leading)]).strip()
        values = values[surplus:]
    elif surplus < 0:
        missing: tuple[Value | None, ...] = (NOTHING,) * -surplus
        if _is_report_line(label, heads) and not row.is_aligned:
            values = (*missing, *values)
        elif _is_below_matrix(label, heads, len(values)) or (
            row.is_aligned and not _is_metric_line(row, table)
        ):
            values = (*values, *missing)
        else:
            return None
    elif not any(heads) and last is not None and bool(label) != bool(last.label):
        return None
    if table.names_models and is_class_number(label):
        label = f"{table.corner.strip(' :')} {label}"
    return replace(row, label=label, values=values)


def _is_metric_line(row: Row, table: Table) -> bool:
    """Whether a short row below classes or models is a metric with its one number."""
    is_metric = recognised(row.label) is not None and len(row.values) == 1
    return is_metric and not any(recognised(head) is not None for head in table.heads)


def _is_report_line(label: str, heads: Sequence[str]) -> bool:
    """A line such as "accuracy 0.59 54", whose numbers stand at the end of a report."""
    found = recognised(label)
    under_metrics = any(recognised(head) is not None for head in heads if head)
    return found is not None and found.meaning.is_aggregate and under_metrics


def _is_below_matrix(label: str, heads: Sequence[str], n_values: int) -> bool:
    """A line of a metric below a matrix at whose side another metric stands."""
    found = recognised(label)
    names, beside = heads[:n_values], heads[n_values:]
    return (
        found is not None
        and found.meaning.is_metric
        and not any(name and recognised(name) for name in names)
        and all(head and recognised(head) for head in beside)
    )


def _class_number(value: Value | None) -> str | None:
    """The number in a cell that may be the name of a class, None for any other."""
    last = None if value is None else value.last
    return last if last is not None and is_class_number(last) else None


def _with_numbers_as_heads(table: Table) -> Table:
    """The table with its first row as headers, where classes are numbered: 0 1 2 over 0, 1, 2."""
    first, rest = table.rows[0], table.rows[1:]
    numbers = tuple(_class_number(value) or "" for value in first.values)
    if any(table.heads) or not rest or numbers != tuple(row.label for row in rest):
        return table
    above = (*table.above, first.label) if first.label else table.above
    return Table(numbers, rest, first.label, above)


@dataclass(frozen=True, slots=True)
class _Heads:
    """Headers, and the one over the labels; `is_sure` unless only their number fits."""

    heads: tuple[str, ...]
    corner: str = ""
    is_sure: bool = True


def _heads_over(waiting: Sequence[Line], row: Row) -> _Heads | None:
    """The headers of the columns of a row in the words before it, None if there are none."""
    lines = list(waiting)
    while len(lines) > 1 and all(axis_word(word) for word in lines[-1].text.split()):
        lines.pop()  # The name of the rows, below the headers.
    if not lines:
        return None
    n_columns, words = len(row.values), lines[-1].text.split()
    found = _in_cells(lines, row) or _named_by_axis(words, n_columns)
    if found is not None:
        return found
    if recognised(row.label) is None:
        numbered = not row.label and n_columns > 2 and _class_number(row.values[0]) is not None
        for size in (n_columns, n_columns - 1) if numbered else (n_columns,):
            by_metrics = _by_metrics(words, size)
            if by_metrics is not None:
                return by_metrics
    return _by_words(words, n_columns)


def _in_cells(lines: Sequence[Line], row: Row) -> _Heads | None:
    """Headers that already are cells of the last line."""
    n_columns, cells = len(row.values), lines[-1].cells
    if len(cells) < 2:
        return None
    if not row.label and len(cells) in {n_columns, n_columns - 1}:
        # The first number of the row may be the name of a class or of a fold.
        is_stub = len(cells) == n_columns and (not cells[0] or _is_stub(cells[0]))
        heads = cells[1:] if is_stub else cells
        return _Heads(_under(lines, heads), cells[0] if is_stub else "")
    fits = {n_columns, n_columns + row.n_before, n_columns + row.n_before - 1}
    if row.is_aligned and len(cells) > max(fits):
        # Cells at the end of the row are left out.
        return _Heads(_under(lines, cells[row.n_before :]), " ".join(cells[: row.n_before]))
    if len(cells) not in fits:
        return None
    before = len(cells) - n_columns
    return _Heads(_under(lines, cells[before:]), " ".join(cells[:before]).strip())


def _under(lines: Sequence[Line], heads: tuple[str, ...]) -> tuple[str, ...]:
    """Headers with the names of the groups that stand in the line above them."""
    groups = [cell for cell in lines[-2].cells if cell] if len(lines) > 1 else []
    if len(groups) < 2 or len(heads) % len(groups):
        return heads
    per_group = len(heads) // len(groups)
    if per_group < 2 or heads != heads[:per_group] * len(groups):
        return heads
    return tuple(f"{groups[place // per_group]} {head}" for place, head in enumerate(heads))


def _by_metrics(words: Sequence[str], n_columns: int) -> _Heads | None:
    """Headers that are names of metrics, each with the words before it."""
    spans = metric_spans(words)
    if len(spans) != n_columns or spans[-1][1] < len(words) or (n_columns < 2 and spans[0][0] > 1):
        return None
    corner = words[0] if spans[0][0] and _is_stub(words[0]) else ""
    starts = [1 if corner else 0, *(end for _, end in spans[:-1])]
    ends = [end for _, end in spans]
    heads = (" ".join(words[start:end]) for start, end in zip(starts, ends, strict=True))
    return _Heads(tuple(heads), corner)


def _named_by_axis(words: Sequence[str], n_columns: int) -> _Heads | None:
    """ "Predicted A (80) Predicted B" parted at the repeated name of the axis."""
    axes = [axis_word(word) for word in words]
    starts = [place for place, axis in enumerate(axes) if axis is not None and axis == axes[0]]
    if len(starts) != n_columns or len(starts) < 2:
        return None
    ends = [*starts[1:], len(words)]
    pairs = zip(starts, ends, strict=True)
    return _Heads(tuple(" ".join(words[start + 1 : end]) for start, end in pairs))


def _by_words(words: Sequence[str], n_columns: int) -> _Heads | None:
    """Headers of one word each, perhaps with a bracket: "A B", "A (80) B (15)"."""
    axes = [word for word in words if axis_word(word) is not None]
    start = 0
    while start < len(words) - 1 and _is_stub(words[start]):
        start += 1
    heads: list[str] = []
    for word in words[start:]:
        if heads and (word.startswith("(") or heads[-1].count("(") > heads[-1].count(")")):
            heads[-1] = f"{heads[-1]} {word}"
        else:
            heads.append(word)
    if len(heads) != n_columns or n_columns < 2:
        return None
    return _Heads(tuple(heads), " ".join(words[:start]), is_sure=bool(axes))


def _is_stub(word: str) -> bool:
    """Whether it is the header over the labels, or the name of an axis in its place."""
    return axis_word(word) is not None or word.lower().strip(" :") in _STUBS
