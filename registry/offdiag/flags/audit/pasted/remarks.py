"""What was changed or taken for granted while a text was read, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from offdiag.flags.audit.pasted.blocks import Block
from offdiag.flags.audit.pasted.lines import Row, Words
from offdiag.flags.audit.pasted.numbers import Number
from offdiag.flags.audit.pasted.recognition import recognised
from offdiag.flags.audit.pasted.run_together import Parts


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
        yield f"There are {n_matrices} matrices; the numbers are held against the first."


def _on_left_out(numbers: Sequence[Number]) -> Iterator[str]:
    for name in dict.fromkeys(number.name for number in numbers):
        yield f"“{name}” belongs to one class, and which of the classes is not said."
