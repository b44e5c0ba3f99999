"""A confusion matrix in the text, and what it says of its axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.domain.orientation import SourceOrientation
from offdiag.flags.audit.pasted.blocks import Block
from offdiag.flags.audit.pasted.classes import numbered, place_of
from offdiag.flags.audit.pasted.lines import axis_word
from offdiag.flags.audit.pasted.recognition import recognised
from offdiag.flags.audit.pasted.roles import Roles, is_matrix

Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class PastedMatrix:
    """Counts as they were printed, line by line, with the classes of both axes.

    `orientation` is what words in the text say, None where they say nothing.
    """

    labels: tuple[str, ...]
    counts: Counts
    orientation: SourceOrientation | None


def matrix_of(block: Block, roles: Roles, classes: Sequence[str]) -> PastedMatrix | None:
    """The matrix that a block is, without totals and metrics at its sides; None if it is none."""
    if not is_matrix(block):
        return None
    if not any(block.heads):
        counts = tuple(_counts(row.values) for row in block.rows)
        names = tuple(classes) if len(classes) == len(counts) else numbered(len(counts))
        return PastedMatrix(names, counts, _orientation(block))
    columns = [place for place, m in enumerate(roles.columns) if m.label is not None]
    counts = tuple(
        _counts([row.values[place] for place in columns])
        for row, m in zip(block.rows, roles.rows, strict=True)
        if m.label is not None
    )
    labels = tuple(roles.columns[place].label or "" for place in columns)
    return PastedMatrix(labels, counts, _orientation(block))


def class_heads(block: Block) -> list[str]:
    """The heads that name the classes of a matrix, in its order."""
    rows = [row.label for row in block.rows]
    return [
        head
        for head in block.heads
        if head and recognised(head) is None and place_of(head, rows) is not None
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
