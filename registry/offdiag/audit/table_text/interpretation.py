"""A text as numbers with a meaning: what was understood, how, and what was not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType

from offdiag.audit.reported_values import AVERAGED, CLASS_KEYS
from offdiag.audit.table_text.blocks import Block, Row, Words, blocks_of, rows_and_words
from offdiag.audit.table_text.cells import Value, line_of, plain_lines
from offdiag.audit.table_text.headers import Meaning, read_meaning, recognised, written
from offdiag.audit.table_text.joined_cells import Parts, ways_to_read
from offdiag.audit.table_text.numbers import (
    Count,
    Number,
    PrintedMatrix,
    counts_of,
    from_labels,
    from_matrix,
    listed_in,
    matrix_of,
    numbers_of,
    sizes_of,
    with_signs,
)
from offdiag.audit.table_text.roles import (
    ClassFacts,
    Known,
    Roles,
    is_matrix,
    place_of,
    read_classes,
    roles_of,
)
from offdiag.errors import InvalidInput

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Corrections:
    """Everything that is to be found out unless it is said here.

    `heads` maps a head as it stands in the text to its meaning in the short form; `classes`
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
    """A head as it stands in the text, its meaning in the short form, and numbers beside it."""

    head: str
    meaning: str
    numbers: tuple[str, ...]
    is_corrected: bool


def head_readings(
    blocks: Sequence[Block], roles: Sequence[Roles], corrected: Mapping[str, Meaning]
) -> tuple[HeadReading, ...]:
    """Every head once, in order of appearance, columns before rows.

    Classes and totals of a matrix are left out: the matrix itself shows how they were taken.
    """
    found: dict[str, HeadReading] = {}
    for block, each in zip(blocks, roles, strict=True):
        shows_itself = is_matrix(block)
        for head, meaning, values in _heads(block, each):
            if shows_itself and not meaning.is_metric and head not in corrected:
                continue
            known = found.get(head)
            numbers = (*(known.numbers if known else ()), *values)
            found[head] = HeadReading(
                head, known.meaning if known else written(meaning), numbers, head in corrected
            )
    return tuple(found.values())


def _heads(block: Block, roles: Roles) -> Iterator[tuple[str, Meaning, tuple[str, ...]]]:
    for place, head in enumerate(block.heads):
        if head:
            yield head, roles.columns[place], _texts([row.values[place] for row in block.rows])
    for at, row in enumerate(block.rows):
        if row.label:
            yield row.label, roles.rows[at], _texts(row.values)


def _texts(values: Sequence[Value | None]) -> tuple[str, ...]:
    return tuple(value.last for value in values if value is not None and value.last is not None)


def remarks_on(
    way: Parts,
    printed: Sequence[Row | Words],
    blocks: Sequence[Block],
    numbers: Sequence[Number],
    *,
    n_matrices: int,
    left_out: Sequence[Number],
) -> tuple[str, ...]:
    """Every remark once, the gravest first."""
    return tuple(
        dict.fromkeys(
            (
                *_on_spread(numbers),
                *_on_parted_cells(way, printed),
                *_on_spelling(blocks),
                *_on_matrices(n_matrices),
                *_on_left_out(left_out),
            )
        )
    )


def _on_spread(numbers: Sequence[Number]) -> Iterator[str]:
    if any(number.has_spread for number in numbers):
        yield (
            "Numbers with a deviation are means over several tests. Ratios of means are not means "
            "of ratios, so for them a contradiction between precision, recall and F1, or with "
            "whole numbers of cases, proves nothing."
        )


def _on_parted_cells(way: Parts, printed: Sequence[Row | Words]) -> Iterator[str]:
    changed = [
        after
        for before, after in zip(printed, way, strict=True)
        if before is not after and isinstance(after, Row)
    ]
    if changed:
        cells = "; ".join(" ".join(v.last or "" for v in row.values if v) for row in changed)
        yield f"Cells of the matrix ran together; they were read as {cells}."


def _on_spelling(blocks: Sequence[Block]) -> Iterator[str]:
    heads = (head for block in blocks for head in (*block.heads, *(r.label for r in block.rows)))
    for head in heads:
        found = recognised(head)
        if found is not None and found.misspelt is not None:
            wrong, right = found.misspelt
            yield f"“{wrong}” was read as {right}."


def _on_matrices(n_matrices: int) -> Iterator[str]:
    if n_matrices > 1:
        yield f"There are {n_matrices} matrices; the numbers are compared with the first."


def _on_left_out(numbers: Sequence[Number]) -> Iterator[str]:
    for name in dict.fromkeys(number.name for number in numbers):
        yield f"“{name}” belongs to one class, and which of the classes is not said."


MOST_NUMBERS = 240
MOST_MODELS = 16


@dataclass(frozen=True)
class Reading:
    """A text as it was understood.

    `heads` are the names in it with what they were taken for. `classes` has the classes in
    the order of the matrix, if there is one; `tables` are the tables of the
    text. `unread` are lines that hold neither heads nor numbers, by their place; `remarks` say
    in sentences what was changed on the way.
    """

    heads: tuple[HeadReading, ...]
    numbers: tuple[Number, ...]
    counts: tuple[Count, ...]
    classes: ClassFacts | None
    matrix: PrintedMatrix | None
    positive: str | None
    unread: tuple[tuple[int, str], ...]
    remarks: tuple[str, ...]
    tables: tuple[Block, ...]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that have numbers, in order of appearance; "" where only one is meant."""
        return tuple(dict.fromkeys(number.model for number in self.numbers))


def read_table_text(text: str, corrections: Corrections | None = None) -> tuple[Reading, ...]:
    """The ways to read a text; more than one only where cells ran together.

    Raises `InvalidInput` for a text that is too long or holds too many numbers, and for
    corrections that cannot be read.
    """
    told = corrections or Corrections()
    lines = plain_lines(text)
    stated = read_classes(told.classes)
    listed = listed_in(lines)
    if stated is None and listed is not None:
        place, facts = listed
        others = [line if at != place else "" for at, line in enumerate(lines)]
        try:
            return _readings(others, told, facts)
        except InvalidInput:
            # It lists something else than the classes of the tables.
            return _readings(lines, told, None)
    return _readings(lines, told, stated)


def _readings(
    lines: Sequence[str], told: Corrections, stated: ClassFacts | None
) -> tuple[Reading, ...]:
    parts = rows_and_words([line_of(number, line) for number, line in enumerate(lines, start=1)])
    return tuple(_reading(way, parts, told, stated) for way in ways_to_read(parts))


def _reading(
    way: Parts, printed: Sequence[Row | Words], told: Corrections, stated: ClassFacts | None
) -> Reading:
    blocks, waiting = blocks_of(way)
    corrected = {head: read_meaning(text) for head, text in told.heads.items() if text.strip()}
    names = from_matrix(blocks, stated)
    roles = _roles(blocks, Known(names, corrected, told.are_models))
    names = from_labels(names, roles, stated)
    # Once the classes are known, heads that come before the table that tells are known, too.
    roles = _roles(blocks, Known(names, corrected, told.are_models))
    counts = tuple(chain.from_iterable(map(counts_of, blocks, roles)))
    sizes = sizes_of(names, stated, blocks, counts)
    classes = ClassFacts(names, sizes) if names else stated
    numbers, left_out = _kept(_numbers(blocks, roles, told), classes)
    matrices = [m for b, r in zip(blocks, roles, strict=True) if (m := matrix_of(b, r, names))]
    return Reading(
        heads=head_readings(blocks, roles, corrected),
        numbers=tuple(numbers),
        counts=counts,
        classes=classes,
        matrix=matrices[0] if matrices else None,
        positive=_positive(told.positive, blocks, classes),
        unread=tuple((words.line.number, words.line.text) for words in waiting),
        remarks=remarks_on(
            way, printed, blocks, numbers, n_matrices=len(matrices), left_out=left_out
        ),
        tables=tuple(blocks),
    )


def _roles(blocks: Sequence[Block], known: Known) -> list[Roles]:
    return [roles_of(block, known) for block in blocks]


def _numbers(blocks: Sequence[Block], roles: Sequence[Roles], told: Corrections) -> list[Number]:
    found = [
        number
        for table, (block, each) in enumerate(zip(blocks, roles, strict=True))
        for number in with_signs(
            numbers_of(block, each, table=table), block.above, is_percent=told.is_percent
        )
    ]
    models = {number.model for number in found}
    if len(found) > MOST_NUMBERS or len(models) > MOST_MODELS:
        raise InvalidInput(
            f"the text has {len(found)} numbers of {len(models)} models.",
            field="table",
            hint=f"Paste at most {MOST_NUMBERS} numbers and {MOST_MODELS} models at once.",
        )
    return found


def _kept(
    numbers: Sequence[Number], classes: ClassFacts | None
) -> tuple[list[Number], list[Number]]:
    """Numbers that can be audited, and those that belong to one of several classes unnamed."""
    several = classes is not None and len(classes.names) > 2
    left_out = [
        number
        for number in numbers
        if several and number.label is None
        if number.key in CLASS_KEYS and number.key not in AVERAGED
    ]
    return [number for number in numbers if number not in left_out], left_out


def _positive(stated: str, blocks: Sequence[Block], classes: ClassFacts | None) -> str | None:
    """The positive class: as stated, or the one whose head says "(positive)"."""
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
    heads = (head for block in blocks for head in (*block.heads, *(r.label for r in block.rows)))
    marked = {place_of(head, names) for head in heads if "(positive)" in head.lower()} - {None}
    return names[marked.pop() or 0] if len(marked) == 1 else None
