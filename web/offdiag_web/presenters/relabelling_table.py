"""Changed labels as a table of classes against classes, both axes named."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.metrics.counted import are_sets
from offdiag.services.truth.difference import LabelDifference
from offdiag_web.presenters import numbers
from offdiag_web.presenters.class_order import ClassHead
from offdiag_web.presenters.label_names import label_head

MOST_CLASSES = 12
"""Up to this many classes that took part in a change, a table can be read."""


@dataclass(frozen=True, slots=True)
class RelabellingLine:
    """One class of the older version; a cell is None where it meets itself."""

    head: ClassHead
    cells: tuple[str | None, ...]
    total: str


@dataclass(frozen=True, slots=True)
class RelabellingTable:
    """Older labels down, newer labels across; only classes that took part in a change."""

    down: str
    across: str
    heads: tuple[ClassHead, ...]
    lines: tuple[RelabellingLine, ...]
    totals: tuple[str, ...]
    total: str


def relabelling_table(
    difference: LabelDifference, *, before: str, after: str
) -> RelabellingTable | None:
    """The table of all changes, None where nothing or too many classes changed, or sets did."""
    counts = {(move.before, move.after): move.n for move in difference.moves}
    involved = {label for pair in counts for label in pair}
    of_sets = are_sets(difference.before)
    if of_sets or not involved or len(involved) > MOST_CLASSES:
        return None
    names = [name for name in difference.labels.names if name in involved]
    shown: list[str | None] = [*names, None] if None in involved else [*names]
    lines = tuple(
        RelabellingLine(
            head=label_head(older),
            cells=tuple(
                None if older == newer else numbers.count(counts.get((older, newer), 0))
                for newer in shown
            ),
            total=numbers.count(sum(counts.get((older, newer), 0) for newer in shown)),
        )
        for older in shown
    )
    return RelabellingTable(
        down=f"Label in {before}",
        across=f"Label in {after}",
        heads=tuple(label_head(label) for label in shown),
        lines=lines,
        totals=tuple(
            numbers.count(sum(counts.get((older, newer), 0) for older in shown)) for newer in shown
        ),
        total=numbers.count(len(difference)),
    )
