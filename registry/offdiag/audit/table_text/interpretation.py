"""A text as numbers with a meaning: what was understood, how, and what has to be asked.

What can be read in two ways is read by one rule, and a remark says what it was taken for. A unit
that no rule tells is a question, because a wrong one makes right numbers impossible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from offdiag.audit.definitions import described
from offdiag.audit.printed import printed
from offdiag.audit.reported_values import AVERAGED, CLASS_KEYS
from offdiag.audit.table_text.cells import Value, line_of, plain_lines
from offdiag.audit.table_text.classes import (
    ClassFacts,
    count_behind,
    distinct,
    listed_in,
    numbered,
    place_of,
    read_classes,
)
from offdiag.audit.table_text.headers import (
    COUNTS,
    SUPPORT,
    Meaning,
    combined,
    read_meaning,
    recognised,
    says_percent,
    written,
)
from offdiag.audit.table_text.roles import (
    Known,
    PrintedMatrix,
    Roles,
    class_heads,
    is_matrix,
    matrix_of,
    roles_of,
)
from offdiag.audit.table_text.tables import Table, tables_in
from offdiag.domain.sentences import enumerated, listed
from offdiag.errors import InvalidInput

MOST_NUMBERS = 240
MOST_MODELS = 16
CLEARLY_PERCENT = 10
"""No misprinted fraction is above this, where none of the numbers beside it is below 1."""
_OF_TABLE = re.compile(r"\bin (?:%|percent)|\bpercentages?\b", re.IGNORECASE)
_LONGEST_HEADING = 400
_MOST_NAMED = 4
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Corrections:
    """Everything that is to be found out unless it is said here.

    `heads` maps a header as it stands in the text to its meaning in the short form; `classes`
    lists the classes and their sizes, `positive` names one of two. `are_models` says whether
    names beside metrics are models or classes, `is_percent` what numbers without a sign are.
    """

    heads: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    classes: str = ""
    positive: str = ""
    are_models: bool | None = None
    is_percent: bool | None = None


@dataclass(frozen=True, slots=True)
class HeadReading:
    """A header as it stands in the text, its meaning in the short form, and numbers beside it."""

    head: str
    meaning: str
    numbers: tuple[str, ...]
    is_corrected: bool


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


@dataclass(frozen=True)
class Reading:
    """A text as it was understood.

    `heads` are the names in it with what they were taken for. `classes` has the classes in
    the order of the matrix, if there is one; `tables` are the tables of the text. `unread` are
    lines that hold neither headers nor numbers, by their place; `remarks` say in sentences what
    was taken for what. `question` is what has to be answered before the numbers are audited.
    """

    heads: tuple[HeadReading, ...]
    numbers: tuple[Number, ...]
    counts: tuple[Count, ...]
    classes: ClassFacts | None
    matrix: PrintedMatrix | None
    positive: str | None
    unread: tuple[tuple[int, str], ...]
    remarks: tuple[str, ...]
    tables: tuple[Table, ...]
    question: InvalidInput | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The models that have numbers, in order of appearance; "" where only one is meant."""
        return tuple(dict.fromkeys(number.model for number in self.numbers))


def read_table_text(text: str, corrections: Corrections | None = None) -> Reading:
    """What a text says.

    Raises `InvalidInput` for a text that is too long or holds too many numbers, for a line of a
    table whose cells cannot be told apart, and for corrections that cannot be read.
    """
    told = corrections or Corrections()
    lines = plain_lines(text)
    stated = read_classes(told.classes)
    listed = listed_in(lines)
    if listed is not None:
        place, facts = listed
        lines[place] = ""
        stated = stated or facts
    tables, unread = tables_in([line_of(at, line) for at, line in enumerate(lines, start=1)])
    corrected = {head: read_meaning(text) for head, text in told.heads.items() if text.strip()}
    names = _classes_of_matrix(tables, stated)
    roles = [roles_of(table, Known(names, corrected, told.are_models)) for table in tables]
    names = _with_labels(names, roles, stated)
    # Once the classes are known, headers that come before the table that tells are known, too.
    roles = [roles_of(table, Known(names, corrected, told.are_models)) for table in tables]
    matrices = [m for t, r in zip(tables, roles, strict=True) if (m := matrix_of(t, r, names))]
    cells = list(_cells(tables, roles))
    counts = tuple(_counts(cells))
    sizes = _sizes(names, stated, tables, counts)
    classes = ClassFacts(names, sizes) if names else stated
    numbers, left_out = _kept(cells, classes)
    units = _with_units(numbers, tables, is_percent=told.is_percent)
    remarks = (
        *_on_spread(numbers),
        *_on_names(tables, roles),
        *units.remarks,
        *left_out,
        *_on_spelling(tables),
    )
    return Reading(
        heads=_head_readings(tables, roles, corrected),
        numbers=tuple(units.numbers),
        counts=counts,
        classes=classes,
        matrix=matrices[0] if matrices else None,
        positive=_positive(told.positive, tables, classes),
        unread=tuple(unread),
        remarks=tuple(dict.fromkeys(remarks)),
        tables=tuple(tables),
        question=units.question,
    )


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell with a value, its name in print, and what its row and its column make of it."""

    place: Place
    name: str
    meaning: Meaning
    value: Value
    line: int
    of_class: str | None


def _cells(tables: Sequence[Table], roles: Sequence[Roles]) -> Iterator[_Cell]:
    for at, (table, each) in enumerate(zip(tables, roles, strict=True)):
        for row_at, (row, row_meaning) in enumerate(zip(table.rows, each.rows, strict=True)):
            for column_at, value in enumerate(row.values):
                if value is not None and value.numbers:
                    column = each.columns[column_at]
                    yield _Cell(
                        Place(at, row_at, column_at),
                        _name(row.label, row_meaning, table.heads[column_at], column),
                        combined(row_meaning, column),
                        value,
                        row.line,
                        row_meaning.label or column.label,
                    )


def _name(row_head: str, row: Meaning, column_head: str, column: Meaning) -> str:
    """The name a number was published under: the header of its metric, with that of an average."""
    if row.is_metric and (row.is_aggregate or not column.is_metric):
        return row_head if column.average is None else f"{column_head} {row_head}"
    return column_head if row.average is None else f"{row_head} {column_head}"


def _numbers(cell: _Cell) -> list[Number]:
    """The number in a cell, chains of equations as several."""
    key = cell.meaning.what or ""
    return [
        Number(
            name=cell.name,
            key=key,
            label=cell.meaning.label if key in CLASS_KEYS else None,
            model=cell.meaning.model or "",
            # "1,000" under a metric has a decimal comma.
            text=text.replace(",", ".") if text.count(",") == 1 else text,
            line=cell.line,
            place=cell.place,
            has_spread=cell.value.has_spread,
        )
        for text in (cell.value.numbers if cell.meaning.is_metric else ())
    ]


def _counts(cells: Iterable[_Cell]) -> Iterator[Count]:
    """The numbers of samples that are not cells of a matrix."""
    for cell in cells:
        what, count = cell.meaning.what, cell.value.count
        if what in COUNTS and count is not None:
            yield Count(what, cell.meaning.label, cell.meaning.model or "", count)


def _kept(
    cells: Sequence[_Cell], classes: ClassFacts | None
) -> tuple[list[Number], tuple[str, ...]]:
    """Numbers that can be audited, and remarks on those whose class or matrix is not known."""
    several = classes is not None and len(classes.names) > 2
    of_classes: dict[tuple[int, str, str], set[str]] = {}
    for cell in cells:
        if cell.meaning.is_aggregate and cell.of_class is not None:
            of_classes.setdefault(_metric_of(cell), set()).add(cell.of_class)
    numbers: list[Number] = []
    remarks: list[str] = []
    for cell in cells:
        key = cell.meaning.what
        if len(of_classes.get(_metric_of(cell), ())) > 1:
            remarks.append(
                f"“{cell.name}” is of all classes together and has a value for each; "
                "these were left out."
            )
        elif several and not cell.meaning.label and key in CLASS_KEYS and key not in AVERAGED:
            remarks.append(
                f"“{cell.name}” belongs to one class, and which of the classes is not said."
            )
        else:
            numbers += _numbers(cell)
    models = {number.model for number in numbers}
    if len(numbers) > MOST_NUMBERS or len(models) > MOST_MODELS:
        raise InvalidInput(
            f"the text has {len(numbers)} numbers of {len(models)} models.",
            field="table",
            hint=f"Paste at most {MOST_NUMBERS} numbers and {MOST_MODELS} models at once.",
        )
    return numbers, tuple(remarks)


def _metric_of(cell: _Cell) -> tuple[int, str, str]:
    return cell.place.table, cell.meaning.what or "", cell.meaning.model or ""


@dataclass(slots=True)
class _Units:
    """Numbers with percent signs where they are meant, how that was decided, and what was not."""

    numbers: list[Number] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    question: InvalidInput | None = None


def _with_units(
    numbers: Sequence[Number], tables: Sequence[Table], *, is_percent: bool | None
) -> _Units:
    """The numbers with percent signs where these are meant.

    `is_percent` is what the user says of numbers without a sign, else the header or the lines
    above the table may say it. Else the numbers of a metric that cannot be larger than 1 are
    fractions where none is, and percentages where all are and one is above `CLEARLY_PERCENT`
    or others of the table are percentages.
    """
    if is_percent is not None:
        return _Units([_signed(n) if is_percent else n for n in numbers])
    units = _Units()
    for at, table in enumerate(tables):
        own = [n for n in numbers if n.place.table == at]
        if any(_OF_TABLE.search(line[:_LONGEST_HEADING]) for line in table.above):
            units.numbers += map(_signed, own)
        else:
            _decide_units([_signed(n) if says_percent(n.name) else n for n in own], units)
    return units


def _decide_units(numbers: Sequence[Number], units: _Units) -> None:
    unsigned: dict[str, list[Number]] = {}
    for number in numbers:
        if _has_no_unit(number) and described(number.key).high == 1.0:
            unsigned.setdefault(number.key, []).append(number)
    sizes = {key: [size for n in own if (size := _size(n))] for key, own in unsigned.items()}
    fractions = [key for key, own in sizes.items() if not own or max(own) <= 1]
    above = [key for key, own in sizes.items() if own and min(own) > 1]
    percent = [key for key in above if max(sizes[key]) > CLEARLY_PERCENT]
    if (percent or any("%" in n.text for n in numbers)) and not any(sizes[k] for k in fractions):
        percent = above
    units.numbers += [
        _signed(n) if n.key in percent and n in unsigned[n.key] else n for n in numbers
    ]
    if percent:
        others = [n.name for key in fractions if sizes[key] for n in unsigned[key]]
        behind = f", those of {_listed(others)} as fractions" if others else ""
        names = _listed(n.name for key in percent for n in unsigned[key])
        units.remarks.append(
            f"Numbers of {names} without a percent sign were read as percentages{behind}."
        )
    unclear = [n for key in unsigned if key not in (*percent, *fractions) for n in unsigned[key]]
    if unclear and units.question is None:
        units.question = _which_unit(unclear)


def _which_unit(numbers: Sequence[Number]) -> InvalidInput:
    """The question about numbers of which some are above 1."""
    above = next(n for n in numbers if (_size(n) or 0) > 1)
    below = next((n for n in numbers if n.key == above.key and 0 < (_size(n) or 0) <= 1), None)
    what = f"“{above.name} {above.text}” in line {above.line}"
    return InvalidInput(
        f"{what} can be {above.text} %, or a fraction with a misprint, as these are at most 1."
        if below is None
        else f"{what} is above 1, and {below.text} in line {below.line} is not: these can be "
        "percentages, or fractions with a misprint.",
        field="unit",
        hint="Say whether numbers without a sign are percentages or fractions, or write the "
        "percent sign behind them or in the header.",
    )


def _has_no_unit(number: Number) -> bool:
    return "%" not in number.text and "/" not in number.text and number.text != "undefined"


def _size(number: Number) -> float | None:
    """How large a number is, None if it is 0 or there is none."""
    value = printed(number.text, field="table").value
    return abs(float(value)) if value else None


def _signed(number: Number) -> Number:
    return replace(number, text=f"{number.text}%") if _has_no_unit(number) else number


def _classes_of_matrix(tables: Sequence[Table], stated: ClassFacts | None) -> tuple[str, ...]:
    """The classes in the order of the matrix, under the names that were stated for them."""
    matrices = [table for table in tables if is_matrix(table)]
    if not matrices:
        return () if stated is None else stated.names
    if len(matrices) > 1:
        raise InvalidInput(
            f"the text has {len(matrices)} matrices, from lines "
            f"{enumerated([str(matrix.rows[0].line) for matrix in matrices])} on.",
            field="table",
            hint="Leave the one that the numbers are of.",
        )
    matrix = matrices[0]
    heads = distinct(class_heads(matrix)) or list(numbered(len(matrix.rows)))
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


def _with_labels(
    names: Sequence[str], roles: Iterable[Roles], stated: ClassFacts | None
) -> tuple[str, ...]:
    """The classes known already, else those that headers were taken for.

    Raises `InvalidInput` if a header names a class that is not among those that were stated.
    """
    found = distinct(m.label for each in roles for m in (*each.columns, *each.rows) if m.label)
    is_unnamed = stated is not None and stated.names == numbered(len(found))
    if not names or is_unnamed:
        return tuple(found) or tuple(names)
    unknown = next((label for label in found if place_of(label, names) is None), None)
    if unknown is not None:
        raise InvalidInput(
            f"the text has a class {unknown!r}, listed are {', '.join(names)}.",
            field="classes",
            hint="List every class, or say that the name is a model: @name.",
        )
    return tuple(names)


def _sizes(
    names: Sequence[str],
    stated: ClassFacts | None,
    tables: Sequence[Table],
    counts: Iterable[Count],
) -> tuple[int, ...] | None:
    """Samples of each class: as stated, as support, or behind the names in the headers."""
    if stated is not None and stated.counts is not None:
        places = [place_of(name, stated.names) for name in names]
        if None in places or len(set(places)) < len(places):
            return stated.counts
        return tuple(stated.counts[place] for place in places if place is not None)
    support = ((c.label, c.count) for c in counts if c.what == SUPPORT and c.label is not None)
    behind = ((h, size) for h in _all_heads(tables) if (size := count_behind(h)) is not None)
    for sizes in (support, behind):
        found = {place_of(name, names): size for name, size in sizes}
        found.pop(None, None)
        if names and len(found) == len(names):
            return tuple(found[place] for place in range(len(names)))
    return None


def _positive(stated: str, tables: Sequence[Table], classes: ClassFacts | None) -> str | None:
    """The positive class: as stated, or the one whose header says "(positive)"."""
    names = () if classes is None else classes.names
    if stated.strip():
        place = place_of(stated, names)
        if place is None:
            raise InvalidInput(
                f"there is no class {stated.strip()!r}.",
                field="positive",
                hint=f"Name one of {', '.join(names)}." if names else "List the classes, too.",
            )
        return names[place]
    if len(names) != 2:
        return None
    marked = {place_of(h, names) for h in _all_heads(tables) if "(positive)" in h.lower()} - {None}
    return names[marked.pop() or 0] if len(marked) == 1 else None


def _all_heads(tables: Sequence[Table]) -> Iterator[str]:
    for table in tables:
        yield from (*table.heads, *(row.label for row in table.rows))


def _head_readings(
    tables: Sequence[Table], roles: Sequence[Roles], corrected: Mapping[str, Meaning]
) -> tuple[HeadReading, ...]:
    """Every header once, in order of appearance, columns before rows.

    Classes and totals of a matrix are left out: the matrix itself shows how they were taken.
    """
    found: dict[str, HeadReading] = {}
    for table, each in zip(tables, roles, strict=True):
        shows_itself = is_matrix(table)
        columns = zip(*(row.values for row in table.rows), strict=True)
        for head, meaning, values in (
            *zip(table.heads, each.columns, columns, strict=True),
            *((row.label, m, row.values) for row, m in zip(table.rows, each.rows, strict=True)),
        ):
            if not head or (shows_itself and not meaning.is_metric and head not in corrected):
                continue
            known = found.get(head, HeadReading(head, written(meaning), (), head in corrected))
            numbers = (value.last for value in values if value is not None and value.last)
            found[head] = replace(known, numbers=(*known.numbers, *numbers))
    return tuple(found.values())


def _on_names(tables: Sequence[Table], roles: Sequence[Roles]) -> Iterator[str]:
    for table, each in zip(tables, roles, strict=True):
        if each.names is not None:
            heads = (*table.heads, *(row.label for row in table.rows))
            meanings = (*each.columns, *each.rows)
            names = [
                head
                for head, meaning in zip(heads, meanings, strict=True)
                if meaning.what is None
                and (meaning.label if each.names == "classes" else meaning.model) is not None
            ]
            yield f"{_listed(names)} beside metrics were read as {each.names}."


def _on_spread(numbers: Sequence[Number]) -> Iterator[str]:
    if any(number.has_spread for number in numbers):
        yield (
            "Numbers with a deviation are means over several tests. Ratios of means are not means "
            "of ratios, so for them a contradiction between precision, recall and F1, or with "
            "whole numbers of cases, proves nothing."
        )


def _on_spelling(tables: Sequence[Table]) -> Iterator[str]:
    for head in _all_heads(tables):
        found = recognised(head)
        if found is not None and found.misspelt is not None:
            wrong, right = found.misspelt
            yield f"“{wrong}” was read as {right}."


def _listed(names: Iterable[str]) -> str:
    return listed([f"“{name}”" for name in dict.fromkeys(names)], at_most=_MOST_NAMED)
