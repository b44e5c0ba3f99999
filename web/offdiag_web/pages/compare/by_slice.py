"""Two runs by every slice: one sentence, the slices that change, and all others folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from offdiag.comparison.by_slice import PartChange, SliceChanges
from offdiag_web.components import numbers
from offdiag_web.components.values import Notes
from offdiag_web.pages.compare.differences import (
    DifferenceLine,
    difference_line,
    symmetric_scale,
)
from offdiag_web.urls.compare import CompareAddress

MOST_LINES = 6
MOST_FOLDED = 200


@dataclass(frozen=True, slots=True)
class SliceLine:
    """A slice with its number of examples; `url` leads to the comparison on it alone."""

    name: str
    n: str
    url: str | None
    difference: DifferenceLine


@dataclass(frozen=True, slots=True)
class SliceStrip:
    """What the card shows: the largest significant changes, then the rest where it is asked for.

    `left_out` says which slices were not judged, empty where all were.
    """

    verdict: str
    ends: tuple[str, str]
    lines: tuple[SliceLine, ...]
    further: tuple[SliceLine, ...]
    left_out: str
    min_size: int


def slice_strip(found: SliceChanges | None, address: CompareAddress) -> SliceStrip | None:
    """The card, None for runs that are not compared by slice."""
    if found is None or not found.slices:
        return None
    notes = Notes()
    by_loss = sorted(
        (*found.slices, *found.classes), key=lambda part: part.change.difference.value or 0.0
    )
    changed = [part for part in by_loss if part.change.outcome.is_separable]
    first = _largest(changed, MOST_LINES)
    rest = [part for part in by_loss if part not in first][:MOST_FOLDED]
    scale = symmetric_scale(part.change for part in (found.whole, *first, *rest))

    def line(part: PartChange) -> SliceLine:
        return SliceLine(
            part.name,
            numbers.count(part.counts.total),
            None if part.slice is None else replace(address, part=part.slice).url(),
            difference_line(part.change, part.name, scale, notes, among="all slices"),
        )

    return SliceStrip(
        found.verdict,
        scale.ends,
        tuple(map(line, (found.whole, *first))) if first else (),
        tuple(map(line, rest)),
        _left_out(found),
        found.min_size,
    )


def _largest(changed: Sequence[PartChange], most: int) -> list[PartChange]:
    kept = sorted(changed, key=lambda part: -abs(part.change.difference.value or 0.0))[:most]
    return [part for part in changed if part in kept]


def _left_out(found: SliceChanges) -> str:
    parts = []
    if found.too_small:
        parts.append(f"Fewer than {found.min_size} examples: {', '.join(found.too_small)}.")
    if found.n_suppressed:
        parts.append(f"Too small to be shown: {numbers.plural(found.n_suppressed, 'slice')}.")
    return " ".join(parts)
