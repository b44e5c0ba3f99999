"""A text as numbers with a meaning: what was understood, how, and what has to be asked.

Anything that can be read in two ways is read by one rule, and a remark says how it was read. A
unit that no rule determines is a question, because a wrong one makes right numbers impossible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from offdiag.audit.table_text.cells import line_of, plain_lines
from offdiag.audit.table_text.classes import (
    ClassFacts,
    PrintedMatrix,
    count_behind,
    distinct,
    listed_in,
    matrix_of,
    matrix_places,
    numbered,
    place_of,
    read_classes,
)
from offdiag.audit.table_text.headers import (
    LEFT_OUT,
    SUPPORT,
    Meaning,
    read_meaning,
    written,
)
from offdiag.audit.table_text.numbers import (
    MOST_NAMED,
    Count,
    Number,
    cells_of,
    counts_in,
    numbers_in,
    with_units,
)
from offdiag.audit.table_text.roles import Known, Roles, roles_of
from offdiag.audit.table_text.tables import Table, tables_in
from offdiag.domain.sentences import enumerated, known_names, listed
from offdiag.errors import InvalidInput

_NOTHING: Mapping[str, str] = MappingProxyType({})
_MICRO_AVERAGES = frozenset({"micro_precision", "micro_recall", "micro_f1", "micro_jaccard"})
_OF_ALL_EXAMPLES = frozenset({"overall_accuracy", "error_rate"})


@dataclass(frozen=True)
class Corrections:
    """What the user states; everything else is inferred.

    `heads` maps a header as it is in the text to its meaning in the short form; `classes`
    lists the classes and their sizes, `positive` names one of two. `are_models` says whether
    names beside metrics are models or classes, `is_percent` how to read numbers without a sign.
    """

    heads: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    classes: str = ""
    positive: str = ""
    are_models: bool | None = None
    is_percent: bool | None = None


@dataclass(frozen=True, slots=True)
class HeadReading:
    """A header as it is in the text, its meaning in the short form, and numbers beside it."""

    head: str
    meaning: str
    numbers: tuple[str, ...]
    is_corrected: bool


@dataclass(frozen=True)
class Reading:
    """A text as it was understood.

    `heads` are the names in it with their assumed meanings. `classes` has the classes in
    the order of the matrix, if there is one; `tables` are the tables of the text. `unread` are
    lines that hold neither headers nor numbers, by their position; `remarks` say in sentences how
    ambiguous parts were read. `question` must be answered before the numbers are audited.
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
        """The models that have numbers, in order of appearance; "" if there is only one."""
        return tuple(dict.fromkeys(number.model for number in self.numbers))


def read_table_text(text: str, corrections: Corrections | None = None) -> Reading:
    """Read a text into numbers with a meaning.

    Raises `InvalidInput` for a text that is too long or holds too many numbers, for a line of a
    table whose cells cannot be separated, and for corrections that cannot be read.
    """
    corrections = corrections or Corrections()
    lines = plain_lines(text)
    stated = read_classes(corrections.classes)
    listed = listed_in(lines)
    if listed is not None:
        place, facts = listed
        lines[place] = ""
        stated = stated or facts
    tables, unread = tables_in([line_of(at, line) for at, line in enumerate(lines, start=1)])
    corrected = {
        head: read_meaning(text) for head, text in corrections.heads.items() if text.strip()
    }
    names = _classes_of_matrix(tables, stated)
    roles = [roles_of(table, Known(names, corrected, corrections.are_models)) for table in tables]
    found = distinct(m.label for each in roles for m in (*each.columns, *each.rows) if m.label)
    if not names or (stated is not None and stated.names == numbered(len(found))):
        names = tuple(found) or names
    # Once the classes are known, headers before the table that shows them are known too.
    roles = [roles_of(table, Known(names, corrected, corrections.are_models)) for table in tables]
    matrices = [matrix for table in tables if (matrix := matrix_of(table, names)) is not None]
    cells = list(cells_of(tables, roles))
    counts = tuple(counts_in(cells))
    sizes = _sizes(names, stated, tables, counts)
    classes = ClassFacts(names, sizes) if names else stated
    numbers, left_out = numbers_in(cells, 0 if classes is None else len(classes.names))
    units = with_units(numbers, tables, is_percent=corrections.is_percent)
    heads = _head_readings(tables, roles, corrected)
    remarks = (
        *_on_spread(numbers),
        *_on_micro_averages(numbers),
        *_on_names(tables, roles),
        *_on_matrix(matrices, numbers),
        *units.remarks,
        *left_out,
        *_on_unknown(heads),
    )
    return Reading(
        heads=heads,
        numbers=tuple(units.numbers),
        counts=counts,
        classes=classes,
        matrix=matrices[0] if matrices else None,
        positive=_positive(corrections.positive, tables, classes),
        unread=tuple(unread),
        remarks=tuple(dict.fromkeys(remarks)),
        tables=tuple(tables),
        question=_which_classes(names, found) or units.question,
    )


def _classes_of_matrix(tables: Sequence[Table], stated: ClassFacts | None) -> tuple[str, ...]:
    """The classes in the order of the matrix, under the names that were stated for them."""
    matrices = [(table, found) for table in tables if (found := matrix_places(table))]
    if not matrices:
        return () if stated is None else stated.names
    if len(matrices) > 1:
        lines = enumerated([str(matrix.rows[0].line) for matrix, _ in matrices])
        raise InvalidInput(
            f"the text has {len(matrices)} matrices, from lines {lines} on.",
            field="table",
            hint="Keep the one the numbers come from.",
        )
    matrix, (rows, columns) = matrices[0]
    named = distinct(matrix.heads[at] for at in columns) if any(matrix.heads) else ()
    heads = named or numbered(len(rows))
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
        # Other names, or none: assume the order of the matrix.
        return stated.names if stated.names != numbered(len(heads)) else tuple(heads)
    return tuple(stated.names[place] for place in places if place is not None)


def _which_classes(names: Sequence[str], found: Sequence[str]) -> InvalidInput | None:
    """The question about a header that names an unknown class."""
    unknown = next((label for label in found if place_of(label, names) is None), None)
    if unknown is None:
        return None
    return InvalidInput(
        f"the text has a class {unknown!r}.",
        field="classes",
        hint=f"{known_names('classes', names)} List every class, or say that {unknown!r} is "
        "@name, a model, or - to leave it out.",
    )


def _sizes(
    names: Sequence[str],
    stated: ClassFacts | None,
    tables: Sequence[Table],
    counts: Iterable[Count],
) -> tuple[int, ...] | None:
    """Samples of each class: as stated, as support, or after the names in the headers."""
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

    Classes and totals of a matrix are left out: the matrix itself shows how they were read.
    """
    found: dict[str, HeadReading] = {}
    for table, each in zip(tables, roles, strict=True):
        shows_itself = matrix_places(table) is not None
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
            listing = listed([f"“{name}”" for name in names], at_most=MOST_NAMED)
            yield f"{listing} next to metrics were read as {each.names}."


def _on_matrix(matrices: Sequence[PrintedMatrix], numbers: Sequence[Number]) -> Iterator[str]:
    models = dict.fromkeys(number.model for number in numbers if number.model)
    if matrices and len(models) > 1:
        yield f"The matrix was compared with the numbers of {enumerated(list(models))}."


def _on_spread(numbers: Sequence[Number]) -> Iterator[str]:
    if any(number.has_spread for number in numbers):
        yield (
            "Numbers with a deviation are means over several tests. Ratios of means are not means "
            "of ratios, so for them a contradiction between precision, recall and F1, or with "
            "whole numbers of cases, proves nothing."
        )


def _on_micro_averages(numbers: Sequence[Number]) -> Iterator[str]:
    averaged = {number.model for number in numbers if number.key in _MICRO_AVERAGES}
    if averaged - {number.model for number in numbers if number.key in _OF_ALL_EXAMPLES}:
        yield (
            "Micro averages were read as accuracy. In a report on some of the classes, or on "
            "examples with several labels, they are not, and a contradiction proves nothing."
        )


def _on_unknown(heads: Iterable[HeadReading]) -> Iterator[str]:
    names = [h.head for h in heads if h.meaning == LEFT_OUT and h.numbers and not h.is_corrected]
    if names:
        listing = listed([f"“{name}”" for name in names], at_most=MOST_NAMED)
        yield f"Numbers of {listing} were left out: nothing says what they are."
