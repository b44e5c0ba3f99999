"""Lines as rows or headers, headers over columns, and one block for each table of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from offdiag.audit.table_text.cells import NOTHING, Line, Value, read_value
from offdiag.audit.table_text.headers import metric_spans, recognised
from offdiag.domain.orientation import ACTUAL_WORDS, PREDICTED_WORDS

_NUMBERED_WORDS = frozenset({"class", "label", "category", "group"})


@dataclass(frozen=True, slots=True)
class Words:
    """A line without numbers: a heading, heads, half of a label, or prose."""

    line: Line

    @property
    def cells(self) -> tuple[str, ...]:
        return self.line.cells

    @property
    def words(self) -> list[str]:
        return self.line.text.split()


@dataclass(frozen=True, slots=True)
class Row:
    """Numbers behind a label; None stands where words are in the place of a number.

    `n_before` is the number of cells that make up the label, and `text` the row as it stands
    in the text.
    """

    line: int
    text: str
    label: str
    values: tuple[Value | None, ...]
    n_before: int
    is_aligned: bool


def rows_and_words(lines: Sequence[Line]) -> list[Row | Words]:
    """The lines in order; one that holds several names with their numbers becomes several."""
    return [part for line in lines if line.text for part in _parts(line)]


def _parts(line: Line) -> Iterator[Row | Words]:
    values = [read_value(cell) for cell in line.cells]
    if not any(value is not None and value is not NOTHING for value in values):
        yield Words(line)
        return
    start = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or _begins(line, values, start, place):
            yield from _row(line, values, start, place)
            start = place


def _begins(line: Line, values: Sequence[Value | None], start: int, place: int) -> bool:
    """Whether another name begins here, after numbers and before others."""
    if values[place] is not None or not any(value for value in values[start:place]):
        return False
    if not any(value is not None and value is not NOTHING for value in values[place:]):
        return False
    return not line.is_aligned or recognised(line.cells[place]) is not None


def _row(
    line: Line, values: Sequence[Value | None], start: int, end: int
) -> Iterator[Row | Words]:
    first = start
    while first < end and (values[first] is None or (first == start and not line.cells[first])):
        first += 1
    if not line.is_aligned:
        while end > first and values[end - 1] is None:
            end -= 1
    label = " ".join(cell for cell in line.cells[start:first] if cell)
    kept = tuple(values[first:end])
    if not kept or _is_numbered_name(label, kept):
        yield Words(Line(line.number, (" ".join(line.cells[start:end]),), is_aligned=False))
        return
    if not line.is_aligned:
        heads, label = _heads_before(label, len(kept))
        if heads:
            yield Words(Line(line.number, (heads,), is_aligned=False))
    text = " ".join(cell for cell in line.cells[start:end] if cell)
    yield Row(line.number, text, _name(label), kept, first - start, line.is_aligned)


def _is_numbered_name(label: str, values: Sequence[Value | None]) -> bool:
    """ "Class 1", alone in its line, is the name of a class and no number."""
    is_whole = len(values) == 1 and values[0] is not None and values[0].count is not None
    last = label.rsplit(maxsplit=1)[-1].lower() if label else ""
    return is_whole and (last in _NUMBERED_WORDS or axis_word(last) is not None)


def _name(label: str) -> str:
    """A label without the formula behind it: "Precision = TP/(TP+FP)", but not "A (y = 0)"."""
    depth = 0
    for place, character in enumerate(label):
        depth += (character == "(") - (character == ")")
        if character in ":=≈" and depth <= 0 and label[:place].strip():
            return label[:place].strip()
    return label.strip(" :=≈")


def _heads_before(label: str, n_values: int) -> tuple[str, str]:
    """Heads that run into the label of the first row, where all stands in one line.

    "Predicted Yes No Actual Yes" and "Class A Class B Precision" hold both.
    """
    words = label.split()
    axes = [place for place, word in enumerate(words) if axis_word(word) is not None]
    if len(axes) > 1 and axis_word(words[axes[0]]) != axis_word(words[axes[-1]]):
        return " ".join(words[: axes[-1]]), " ".join(words[axes[-1] :])
    if n_values < 2 or len(words) <= n_values:
        return "", label
    spans = metric_spans(words)
    if spans and spans[-1][1] == len(words) and spans[-1][0] >= n_values:
        start = spans[-1][0]
        return " ".join(words[:start]), " ".join(words[start:])
    return "", label


def named_by_axis(words: Sequence[str]) -> list[str]:
    """ "Predicted A (80) Predicted B" parted at the repeated name of the axis."""
    axes = [axis_word(word) for word in words]
    starts = [place for place, axis in enumerate(axes) if axis is not None and axis == axes[0]]
    ends = [*starts[1:], len(words)]
    return (
        [" ".join(words[start + 1 : end]) for start, end in zip(starts, ends, strict=True)]
        if len(starts) > 1
        else []
    )


def axis_word(word: str) -> str | None:
    """ "predicted" or "actual" for words that name an axis of a confusion matrix."""
    plain = word.strip(":,.()\\/|→↓").lower()
    if plain in PREDICTED_WORDS:
        return "predicted"
    return "actual" if plain in ACTUAL_WORDS else None


_STUBS = frozenset(
    {"metric", "metrics", "model", "models", "method", "methods", "class", "classes", "label"}
    | {"classifier", "algorithm", "dataset", "approach", "name", "measure", "labels", "category"}
)
_OF_MODELS = frozenset({"fold", "run", "seed", "split", "trial", "repeat", "experiment", "epoch"})
"""Heads over numbers, each with figures of its own."""
_NUMBERED = re.compile(
    r"(?:class|label|category|group)\s+[^\s()]{1,40}(?:\s*\([^()]{0,40}\))?", re.IGNORECASE
)
_CAMEL = re.compile(r"[A-Z][a-z]{1,30}")
_MOST_LINES = 30
"""Lines of heads, where a PDF file gave each word a line of its own."""


def heads_over(words: Sequence[Words], row: Row) -> tuple[tuple[str, ...], str] | None:
    """Heads of the columns of a row, and what is left of the words as its label.

    `words` are the lines without numbers before the row. None if they are not heads.
    """
    if not words:
        return None
    in_cells = _in_cells(words, row)
    if in_cells is not None:
        return in_cells, ""
    n_columns = len(row.values)
    found = _by_names(words, n_columns)
    first = row.values[0]
    if found is None and n_columns > 2 and _class_number(first) is not None:
        # The first number of a row without a label may be the name of a class.
        found = None if row.label else _by_names(words, n_columns - 1)
    if found is not None:
        return found
    by_words = _by_words(words[-1].words, n_columns)
    return None if by_words is None else (by_words, "")


def _by_names(words: Sequence[Words], n_columns: int) -> tuple[tuple[str, ...], str] | None:
    """Heads among words that only spaces part: names of metrics, or of an axis, in any line."""
    for n_lines in range(1, min(len(words), _MOST_LINES) + 1):
        flat = [word for line in words[-n_lines:] for word in line.words]
        by_metrics = _by_metrics(flat, n_columns)
        if by_metrics is not None:
            heads, label = by_metrics
            above = words[-n_lines - 1].words if n_lines < len(words) else []
            return _with_first_group(heads, above), label
        by_axis = named_by_axis(flat)
        if len(by_axis) == n_columns:
            return tuple(by_axis), ""
    return None


def number_classes(words: Sequence[str], n_columns: int) -> bool:
    """Whether words are the heads of so many classes: "Class A (80) Class B (15)"."""
    return len(_NUMBERED.findall(" ".join(words))) == n_columns


def _with_first_group(heads: tuple[str, ...], above: list[str]) -> tuple[str, ...]:
    """Heads of which the first is in a group, too, whose name stands in the line above."""
    second = heads[1].partition(" ")[0] if len(heads) > 1 else ""
    if above == [second] and not metric_spans(above):
        return (f"{second} {heads[0]}", *heads[1:])
    return heads


def _in_cells(words: Sequence[Words], row: Row) -> tuple[str, ...] | None:
    """Heads that already are cells of the last line."""
    n_columns, cells = len(row.values), words[-1].cells
    if not words[-1].line.is_aligned and _is_stub(cells[0]):
        cells = cells[1:]
    if len(cells) < 2 and not (n_columns == 1 and words[-1].line.is_aligned):
        return None
    if n_columns == len(cells) + 1 and not row.label:
        # The first number of the row is the name of a class.
        return _under(words, cells)
    if len(cells) < n_columns:
        return None
    start = row.n_before if len(cells) >= row.n_before + n_columns else len(cells) - n_columns
    return _under(words, cells[start : start + n_columns])


def _under(words: Sequence[Words], heads: tuple[str, ...]) -> tuple[str, ...]:
    """Heads with the names of the groups that stand in the line above them."""
    groups = [cell for cell in words[-2].cells if cell] if len(words) > 1 else []
    if len(groups) < 2 or len(heads) % len(groups):
        return heads
    per_group = len(heads) // len(groups)
    if per_group < 2 or heads != heads[:per_group] * len(groups):
        return heads
    return tuple(f"{groups[place // per_group]} {head}" for place, head in enumerate(heads))


def _by_metrics(words: list[str], n_columns: int) -> tuple[tuple[str, ...], str] | None:
    """Heads that are names of metrics, each with the words before it, and what comes after."""
    spans = metric_spans(words)
    if len(spans) != n_columns:
        return None
    starts = [0, *(end for _, end in spans[:-1])]
    heads = [
        " ".join(_without_stub(words[start:end]))
        for start, (_, end) in zip(starts, spans, strict=True)
    ]
    return tuple(heads), " ".join(words[spans[-1][1] :])


def _by_words(words: list[str], n_columns: int) -> tuple[str, ...] | None:
    """Heads of classes or models: "Class A (80) Class B (15)", "A (80) B (15)", "A B"."""
    kept = _without_stub(words)
    for parts in (_NUMBERED.findall(" ".join(words)), kept, _with_brackets(kept)):
        if len(parts) == n_columns:
            return tuple(parts)
    camel = _CAMEL.findall(words[0]) if len(words) == 1 else []
    if len(camel) == n_columns:
        return tuple(camel)
    return tuple(kept[1:]) if len(kept) == n_columns + 1 else None


def _without_stub(words: list[str]) -> list[str]:
    """Words without the name of the axis and the head of the labels before them."""
    start = 0
    while start < len(words) - 1 and axis_word(words[start]) is not None:
        start += 1
    if start < len(words) - 1 and _is_stub(words[start]):
        start += 1
    return words[start:]


def _is_stub(word: str) -> bool:
    """Whether it is the head of the labels, or the name of an axis in their place."""
    return axis_word(word) is not None or word.lower().strip(":") in _STUBS


def _with_brackets(words: list[str]) -> list[str]:
    """Words with a bracket behind them taken as one: "A (80)"."""
    parts: list[str] = []
    for word in words:
        if parts and (word.startswith("(") or parts[-1].count("(") > parts[-1].count(")")):
            parts[-1] = f"{parts[-1]} {word}"
        else:
            parts.append(word)
    return parts


MOST_LABEL_CELLS = 3
"""Whole numbers at the start of a row that may belong to its label: "class 1 of 3"."""


@dataclass(frozen=True, slots=True)
class Block:
    """A table: heads of its columns, empty where there are none, and rows of equal length.

    `above` are the lines over the first row, where axes and units are named.
    """

    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    above: tuple[str, ...]


def blocks_of(parts: Sequence[Row | Words]) -> tuple[list[Block], list[Words]]:
    """The tables of a text, and the lines that are neither heads nor rows."""
    collected = _Collected()
    for part in parts:
        if isinstance(part, Words):
            collected.waiting.append(part)
        elif not collected.continues_with(part):
            collected.begin(part)
    return collected.finished()


class _Collected:
    """Blocks found so far, the open one, and words that wait for what comes after them."""

    def __init__(self) -> None:
        self.waiting: list[Words] = []
        self._blocks: list[Block] = []
        self._heads: tuple[str, ...] = ()
        self._rows: list[Row] = []
        self._above: tuple[str, ...] = ()
        self._numbered: str | None = None
        self._unread: list[Words] = []

    def continues_with(self, row: Row) -> bool:
        """Add the row to the open block, if it goes on there."""
        if not self._rows or _are_heads(self.waiting, row):
            return False
        fitted = _fitted(row, self._heads)
        if fitted is None:
            return False
        if self.waiting and not fitted.label:
            fitted = replace(fitted, label=" ".join(words.line.text for words in self.waiting))
        else:
            self._unread += self.waiting
        self.waiting = []
        self._rows.append(self._labelled(fitted))
        return True

    def begin(self, row: Row) -> None:
        """Close the open block and begin one with this row."""
        self._close()
        found = heads_over(self.waiting, row)
        first = None if found is None else _fitted(row, found[0])
        if found is None or first is None:
            found, first = (("",) * len(row.values), ""), row
            self._unread += self.waiting
        self._above = tuple(words.line.text for words in self.waiting)
        self.waiting = []
        self._heads, label = found
        first = replace(first, label=label) if label and not first.label else first
        self._numbered = _numbered_under(self._heads, first)
        if self._numbered is not None:
            self._heads = self._heads[1:]
            first = self._labelled(_fitted(first, self._heads) or first)
        self._rows = [first]

    def _labelled(self, row: Row) -> Row:
        """A row whose label is a number with what it is the number of, as "Fold 1"."""
        is_number = self._numbered and is_class_number(row.label)
        return replace(row, label=f"{self._numbered} {row.label}") if is_number else row

    def finished(self) -> tuple[list[Block], list[Words]]:
        self._close()
        return self._blocks, [*self._unread, *self.waiting]

    def _close(self) -> None:
        if self._rows:
            block = Block(self._heads, tuple(self._rows), self._above)
            self._blocks.append(_with_numbers_as_heads(block))
        self._rows = []


def _with_numbers_as_heads(block: Block) -> Block:
    """The block with its first row as heads, where classes are numbered: 0 1 2 over 0, 1, 2."""
    first, rest = block.rows[0], block.rows[1:]
    is_corner = not first.label or any(axis_word(word) for word in first.label.split())
    if any(block.heads) or not rest or not is_corner:
        return block
    numbers = tuple(value.last if value is not None else None for value in first.values)
    if numbers != tuple(row.label for row in rest):
        return block
    heads = tuple(number or "" for number in numbers)
    return Block(heads, rest, (*block.above, first.label) if first.label else block.above)


def _numbered_under(heads: tuple[str, ...], row: Row) -> str | None:
    """What the numbers in front of the rows are of, if the first row has one: "" for classes, as
    the 0 under "Class" or under nothing, else the head, as "Fold". None where there are no such.
    """
    stub = heads[0].strip(" :")
    if row.label or len(heads) < 2 or not all(heads[1:]) or _class_number(row.values[0]) is None:
        return None
    if not stub or stub.lower() in _NUMBERED_WORDS or axis_word(stub) is not None:
        return ""
    return stub if stub.lower() in _OF_MODELS or _is_stub(stub) else None


def _fitted(row: Row, heads: tuple[str, ...]) -> Row | None:
    """The row with a value under each head, None if it belongs under other heads."""
    values, label = row.values, row.label
    surplus = len(values) - len(heads)
    if surplus > 0:
        leading = [_class_number(value) for value in values[:surplus]]
        is_label = surplus <= MOST_LABEL_CELLS if label and any(heads) else surplus == 1
        if not is_label or None in leading:
            return None
        label = " ".join([label, *(number or "" for number in leading)]).strip()
        values = values[surplus:]
    if surplus < 0:
        missing: tuple[Value | None, ...] = (NOTHING,) * -surplus
        if row.is_aligned or _is_below_classes(label, heads, len(values)):
            values = (*values, *missing)
        elif _is_report_line(label, heads):
            values = (*missing, *values)
        else:
            return None
    return replace(row, label=label, values=values)


_CLASS_NUMBER = re.compile(r"-?\d{1,9}(\.0)?")


def is_class_number(text: str) -> bool:
    """Whether a text is a number as classes have it: 0, -1, or 1.0 where it was a float."""
    return _CLASS_NUMBER.fullmatch(text) is not None


def _class_number(value: Value | None) -> str | None:
    """The number in a cell that may be the name of a class, None for any other."""
    if value is None or value.last is None:
        return None
    if value.count is not None:
        return str(value.count)
    return value.last if is_class_number(value.last) else None


def _is_report_line(label: str, heads: tuple[str, ...]) -> bool:
    """A line such as "accuracy 0.59 54", whose numbers stand at the end of a report."""
    found = recognised(label)
    under_metrics = any(recognised(head) is not None for head in heads if head)
    return found is not None and found.meaning.is_aggregate and under_metrics


def _is_below_classes(label: str, heads: tuple[str, ...], n_values: int) -> bool:
    """A line of a metric below a matrix at whose side another metric stands."""
    found = recognised(label)
    names, beside = heads[:n_values], heads[n_values:]
    return (
        found is not None
        and found.meaning.is_metric
        and not any(name and recognised(name) for name in names)
        and all(head and recognised(head) for head in beside)
    )


def _are_heads(waiting: Sequence[Words], row: Row) -> bool:
    """Whether words between rows are the heads of another table."""
    if not waiting:
        return False
    if len(waiting[-1].cells) > 1 and len(waiting[-1].cells) >= len(row.values):
        return True
    words = [word for line in waiting for word in line.words]
    if number_classes(words, len(row.values)):
        return True
    return bool(metric_spans(words)) or any(axis_word(word) for word in words)
