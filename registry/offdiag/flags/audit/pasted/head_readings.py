"""The names in a text beside what they were taken for: what a reader looks at and corrects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from offdiag.flags.audit.pasted.blocks import Block
from offdiag.flags.audit.pasted.meaning import Meaning, written
from offdiag.flags.audit.pasted.roles import Roles, is_matrix
from offdiag.flags.audit.pasted.values import Value


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
