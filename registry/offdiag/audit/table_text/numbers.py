"""The contents of a table: numbers with their meaning, a confusion matrix, and the classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from offdiag.audit.definitions import described
from offdiag.audit.printed import printed
from offdiag.audit.reported_values import CLASS_KEYS
from offdiag.audit.table_text.blocks import Block, axis_word
from offdiag.audit.table_text.cells import Value
from offdiag.audit.table_text.headers import (
    COUNTS,
    SUPPORT,
    Meaning,
    combined,
    recognised,
    says_percent,
)
from offdiag.audit.table_text.roles import (
    ClassFacts,
    Roles,
    count_behind,
    distinct,
    is_matrix,
    numbered,
    on_both_sides,
    place_of,
    read_classes,
)
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Place:
    """A cell of the text: its table, and row and column in that, all from 0."""

    table: int
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Number:
    """One published number: of which metric, class and model, under which name, in which line.

    `label` is None for aggregates and for class metrics that name no class, `model` is empty
    where there is only one. `has_spread` tells of a mean over several tests.
    """

    name: str
    key: str
    label: str | None
    model: str
    text: str
    line: int
    place: Place
    has_spread: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number of samples: what it counts, of which class and model."""

    what: str
    label: str | None
    model: str
    count: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell with a value, and what its row and its column make of it."""

    row: int
    column: int
    meaning: Meaning
    value: Value


def cells_of(block: Block, roles: Roles) -> Iterator[Cell]:
    """Every cell with a value, row by row."""
    for at, (row, row_meaning) in enumerate(zip(block.rows, roles.rows, strict=True)):
        for place, value in enumerate(row.values):
            if value is not None and value.numbers:
                meaning = combined(row_meaning, roles.columns[place])
                yield Cell(at, place, meaning, value)


def numbers_of(block: Block, roles: Roles, *, table: int) -> list[Number]:
    """The metrics in a block, chains of equations as several numbers; `table` is its place."""
    return [
        Number(
            name=_name(block, roles, cell),
            key=cell.meaning.what or "",
            label=cell.meaning.label if cell.meaning.what in CLASS_KEYS else None,
            model=cell.meaning.model or "",
            text=_with_point(text),
            line=block.rows[cell.row].line,
            place=Place(table, cell.row, cell.column),
            has_spread=cell.value.has_spread,
        )
        for cell in cells_of(block, roles)
        if cell.meaning.is_metric
        for text in cell.value.numbers
    ]


def counts_of(block: Block, roles: Roles) -> list[Count]:
    """The numbers of samples in a block that are not cells of a matrix."""
    found = []
    for cell in cells_of(block, roles):
        what, count = cell.meaning.what, cell.value.count
        if what in COUNTS and count is not None:
            found.append(Count(what, cell.meaning.label, cell.meaning.model or "", count))
    return found


def _name(block: Block, roles: Roles, cell: Cell) -> str:
    """The name a number was published under: the head of its metric, with that of an average."""
    row, column = roles.rows[cell.row], roles.columns[cell.column]
    row_head, column_head = block.rows[cell.row].label, block.heads[cell.column]
    if row.is_metric and (row.is_aggregate or not column.is_metric):
        return row_head if column.average is None else f"{column_head} {row_head}"
    return column_head if row.average is None else f"{row_head} {column_head}"


def _with_point(text: str) -> str:
    """ "1,000" under a metric has a decimal comma."""
    return text.replace(",", ".") if text.count(",") == 1 else text


_OF_TABLE = re.compile(r"\bin (?:%|percent)|\bpercentages?\b", re.IGNORECASE)
_LONGEST_HEADING = 400


def with_signs(
    numbers: Sequence[Number], above: Sequence[str], *, is_percent: bool | None
) -> list[Number]:
    """The numbers of one table with percent signs where they are meant.

    `is_percent` is what the user says of numbers without a sign, `above` are the lines over
    the table. Where it is not stated, a metric whose every number lies between 1 and 100 is a
    percentage if it cannot be larger than 1. Metrics that may be negative follow the others,
    because there a number above 1 may also be a wrong one.
    """
    if is_percent is None and any(_OF_TABLE.search(line[:_LONGEST_HEADING]) for line in above):
        is_percent = True
    if is_percent is not None:
        return [_signed(n) if is_percent else n for n in numbers]
    numbers = [_signed(n) if says_percent(n.name) else n for n in numbers]
    keys = {n.key for n in numbers}
    shares = {key for key in keys if described(key).low == 0.0 and described(key).high == 1.0}
    percent = {key for key in shares if _are_percentages([n for n in numbers if n.key == key])}
    if percent:
        bounded = keys - shares
        percent |= {
            key for key in bounded if _are_percentages([n for n in numbers if n.key == key])
        }
    return [_signed(n) if n.key in percent else n for n in numbers]


def _are_percentages(numbers: Sequence[Number]) -> bool:
    """Whether all of them that have no sign lie above 1, and there are such."""
    plain = [n for n in numbers if "%" not in n.text and "/" not in n.text]
    sizes = [abs(float(value)) for n in plain if (value := printed(n.text, field="table").value)]
    return bool(sizes) and min(sizes) > 1 and max(sizes) <= 100


def _signed(number: Number) -> Number:
    text = number.text
    if "%" in text or "/" in text or text == "undefined":
        return number
    return replace(number, text=f"{text}%")


Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PrintedMatrix:
    """Counts as they were printed, line by line, with the classes of both axes.

    `orientation` is what words in the text say, None where they say nothing.
    """

    labels: tuple[str, ...]
    counts: Counts
    orientation: SourceOrientation | None


def matrix_of(block: Block, roles: Roles, classes: Sequence[str]) -> PrintedMatrix | None:
    """The matrix that a block is, without totals and metrics at its sides; None if it is none."""
    if not is_matrix(block):
        return None
    if not any(block.heads):
        counts = tuple(_counts(row.values) for row in block.rows)
        names = tuple(classes) if len(classes) == len(counts) else numbered(len(counts))
        return PrintedMatrix(names, counts, _orientation(block))
    columns = [place for place, m in enumerate(roles.columns) if m.label is not None]
    counts = tuple(
        _counts([row.values[place] for place in columns])
        for row, m in zip(block.rows, roles.rows, strict=True)
        if m.label is not None
    )
    labels = tuple(roles.columns[place].label or "" for place in columns)
    return PrintedMatrix(labels, counts, _orientation(block))


def class_heads(block: Block) -> list[str]:
    """The heads that name the classes of a matrix, in its order."""
    rows = [row.label for row in block.rows]
    twice = on_both_sides(block)
    return [
        head
        for head in block.heads
        if head and (head in twice or recognised(head) is None)
        if place_of(head, rows) is not None
    ]


def _counts(values: Sequence[object]) -> tuple[int, ...]:
    return tuple(int(getattr(value, "count", 0) or 0) for value in values)


def _orientation(block: Block) -> SourceOrientation | None:
    """What stands along the rows, by the words at either axis."""
    of_rows = _axis([row.label for row in block.rows])
    of_columns = _axis(block.heads) or _axis(block.above)
    corner = _axes(block.above[-1:])
    if of_rows is None and of_columns is None and len(corner) == 1:
        # The name of the columns above, that of the rows beside the heads.
        of_rows = next(iter(corner))
    if of_rows == "actual" or (of_rows is None and of_columns == "predicted"):
        return SourceOrientation.ACTUAL_ROWS
    if of_rows == "predicted" or of_columns == "actual":
        return SourceOrientation.ACTUAL_COLUMNS
    return None  # "True \\ Predicted" in one corner is read in either way.


def _axis(texts: Sequence[str]) -> str | None:
    """The axis that words in these texts name, if it is one only."""
    named = _axes(texts)
    return next(iter(named)) if len(named) == 1 else None


def _axes(texts: Sequence[str]) -> set[str]:
    words = (word for text in texts for word in text.split())
    return {axis for word in words if (axis := axis_word(word)) is not None}


_LISTS_OF_CLASSES = frozenset(
    {"classes", "class counts", "class sizes", "counts", "support", "supports", "cases", "n"}
    | {"samples", "class distribution", "test set", "data"}
)
_POSITIVES = re.compile(r"(\d[\d,]{0,18})\s{1,3}positives?\b", re.IGNORECASE)
_NEGATIVES = re.compile(r"(\d[\d,]{0,18})\s{1,3}negatives?\b", re.IGNORECASE)
_DECIMAL = re.compile(r"\d\.\d")


def listed_in(lines: Sequence[str]) -> tuple[int, ClassFacts] | None:
    """The place of a line such as "Classes: A 80, B 15", or of one that counts positives.

    Prose counts positives and negatives in a sentence; if that has metrics as well, the
    place is that behind the last line.
    """
    for place, line in enumerate(lines):
        head, colon, rest = line.partition(":")
        if colon and head.strip().lower() in _LISTS_OF_CLASSES:
            try:
                found = read_classes(rest)
            except InvalidInput:
                continue
            if found is not None and found.counts is not None:
                return place, found
        sizes = (_POSITIVES.search(line), _NEGATIVES.search(line))
        if sizes[0] is not None and sizes[1] is not None:
            counts = tuple(int(size[1].replace(",", "")) for size in sizes if size is not None)
            has_metrics = "%" in line or _DECIMAL.search(line) is not None
            facts = ClassFacts(("positive", "negative"), counts)
            return (len(lines) if has_metrics else place), facts
    return None


def from_matrix(blocks: Sequence[Block], stated: ClassFacts | None) -> tuple[str, ...]:
    """The classes in the order of a matrix, under the names that were stated for them."""
    matrices = [block for block in blocks if is_matrix(block)]
    # One that names its classes tells more than one that has only cells.
    block = max(matrices, key=lambda block: any(block.heads), default=None)
    if block is None:
        return () if stated is None else stated.names
    heads = distinct(class_heads(block)) or list(numbered(len(block.rows)))
    if stated is None:
        return tuple(heads)
    if len(stated.names) != len(heads):
        raise InvalidInput(
            f"{len(stated.names)} classes are listed, the matrix has {len(heads)}.",
            field="classes",
            hint="List the classes of the matrix, or leave them out.",
        )
    places = [place_of(head, stated.names) for head in heads]
    if None in places or len(set(places)) < len(places):
        # Other names, or none: taken in the order of the matrix.
        return stated.names if stated.names != numbered(len(heads)) else tuple(heads)
    return tuple(stated.names[place] for place in places if place is not None)


def from_labels(
    names: Sequence[str], roles: Iterable[Roles], stated: ClassFacts | None
) -> tuple[str, ...]:
    """The classes known already, else those that heads were taken for.

    Raises `InvalidInput` if a head names a class that is not among those that were stated.
    """
    labels = [m.label for each in roles for m in (*each.columns, *each.rows) if m.label]
    found = distinct(labels)
    if not names or (stated is not None and _are_numbers(stated, found)):
        return tuple(found) or tuple(names)
    unknown = next((label for label in found if place_of(label, names) is None), None)
    if unknown is not None:
        raise InvalidInput(
            f"the text has a class {unknown!r}, listed are {', '.join(names)}.",
            field="classes",
            hint="List every class, or say that the name is a model: @name.",
        )
    return tuple(names)


def _are_numbers(stated: ClassFacts, found: Sequence[str]) -> bool:
    """Whether only sizes were stated, for as many classes as the text names."""
    is_unnamed = stated.names == numbered(len(stated.names))
    return is_unnamed and len(found) == len(stated.names)


def sizes_of(
    names: Sequence[str],
    stated: ClassFacts | None,
    blocks: Sequence[Block],
    counts: Iterable[Count],
) -> tuple[int, ...] | None:
    """Samples of each class: as stated, after the names in the headers, or as support."""
    if stated is not None and stated.counts is not None:
        places = [place_of(name, stated.names) for name in names]
        if None in places or len(set(places)) < len(places):
            return stated.counts
        return tuple(stated.counts[place] for place in places if place is not None)
    heads = [head for block in blocks for head in (*block.heads, *(r.label for r in block.rows))]
    behind = {
        place: size
        for head in heads
        if (size := count_behind(head)) is not None
        and (place := place_of(head, names)) is not None
    }
    support = {
        place: count.count
        for count in counts
        if count.what == SUPPORT and count.label is not None
        if (place := place_of(count.label, names)) is not None
    }
    for found in (support, behind):
        if names and len(found) == len(names):
            return tuple(found[place] for place in range(len(names)))
    return None
