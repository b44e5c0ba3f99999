"""Tables coloured by recall: each class in each slice, or in the cross of two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.number_text import number
from offdiag.domain.slices import Slice, SliceTerm
from offdiag.metrics.slices.counts import MIN_SAMPLES, NO_PARENT
from offdiag.metrics.slices.finder import RECALL, SliceFindings
from offdiag.palette import BINS
from offdiag_web.components import numbers
from offdiag_web.urls.run import slice_url

MOST_SLICES = 24
"""Most slices in the table; if there are more, the largest ones."""
MOST_CLASSES = 30
_WIDEST_GAP = 0.5
"""Difference from all samples at which the colour is strongest."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A recall with its support; `css` is its colour, none if there are too few samples."""

    text: str
    support: str
    css: str
    name: str
    url: str
    is_significant: bool
    is_faint: bool = False


@dataclass(frozen=True, slots=True)
class Heat:
    """A table with grouped columns: `groups` are names with the number of columns they span."""

    groups: tuple[tuple[str, int], ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...], str], ...]
    n_hidden: int


def class_heat(found: SliceFindings, run_id: str, labels: Sequence[str]) -> Heat:
    """Recall of each class (rows) in each slice of one column."""
    counts = found.counts
    supports = found.numbers[: counts.n_singles, 0]
    places = np.sort(np.argsort(-supports, kind="stable")[:MOST_SLICES]).tolist()
    names = [counts.choice_names[place] for place in places]
    codes = _shown_classes(found)
    return Heat(
        groups=tuple((name, len(list(each))) for name, each in groupby(n for n, _ in names)),
        heads=tuple(value for _, value in names),
        rows=tuple(
            (
                labels[code],
                tuple(_cell(found, place, code, run_id, labels[code]) for place in places),
                _share(*_recall(found.total, code, counts.n_classes)),
            )
            for code in codes
        ),
        n_hidden=counts.n_singles - len(places),
    )


def cross_heat(
    found: SliceFindings, run_id: str, labels: Sequence[str], code: int, columns: tuple[str, str]
) -> Heat:
    """Recall of one class in the crosses of two columns, the first one as rows."""
    counts = found.counts
    values_of = dict(counts.columns)
    rows, across = values_of[columns[0]], values_of[columns[1]]
    place = {
        tuple(counts.choice_names[at] for at in pair): at_row + counts.n_singles
        for at_row, pair in enumerate(counts.members[counts.n_singles :].tolist())
        if NO_PARENT not in pair
    }
    found_rows = []
    for value in rows[:MOST_SLICES]:
        cells = []
        for other in across[:MOST_SLICES]:
            key = tuple(sorted(((columns[0], value), (columns[1], other))))
            at = place.get(key)
            cells.append(
                HeatCell("–", "", "", f"{value}, {other}: few", "", False, is_faint=True)
                if at is None
                else _cell(found, at, code, run_id, labels[code], by_count=True)
            )
        own = found.numbers[counts.choice_names.index((columns[0], value))]
        hits, cases = _recall(own, code, counts.n_classes)
        found_rows.append((value, tuple(cells), f"{hits:.0f}/{cases:.0f}"))
    return Heat(
        ((columns[1], len(across[:MOST_SLICES])),),
        across[:MOST_SLICES],
        tuple(found_rows),
        max(0, len(rows) - MOST_SLICES) + max(0, len(across) - MOST_SLICES),
    )


def _shown_classes(found: SliceFindings) -> list[int]:
    """Classes by size, largest first."""
    support = found.total[2 : 2 + found.counts.n_classes]
    order = np.argsort(-support, kind="stable")[:MOST_CLASSES]
    return [int(code) for code in order if support[code] > 0]


def _cell(
    found: SliceFindings, place: int, code: int, run_id: str, label: str, *, by_count: bool = False
) -> HeatCell:
    hits, cases = _recall(found.numbers[place], code, found.counts.n_classes)
    terms = found.counts.terms(place)
    where = ", ".join(value for _, value in terms)
    part = str(Slice(tuple(sorted(SliceTerm(*term) for term in terms))))
    total = _recall(found.total, code, found.counts.n_classes)
    if not cases:
        return HeatCell("–", "", "", f"{label}, {where}: no examples", "", False, is_faint=True)
    gap = hits / cases - total[0] / total[1]
    test = found.metrics.index((RECALL, code))
    is_few = cases < MIN_SAMPLES
    is_significant = bool(found.tests.found[place, test])
    text = f"{hits:.0f}/{cases:.0f}" if by_count else _share(hits, cases)
    said = f"{label}, {where}: {hits:.0f} of {cases:.0f}"
    return HeatCell(
        text="" if is_few and not by_count else text,
        support=f"n {numbers.count(int(cases))}",
        css=_shade(gap) if not is_few else "",
        name=f"{said}, significant" if is_significant else said,
        url=slice_url(run_id, part, label) if hits < cases else "",
        is_significant=is_significant,
        is_faint=is_few,
    )


def _recall(of: NDArray[np.float64], code: int, n_classes: int) -> tuple[float, float]:
    return float(of[2 + 2 * n_classes + code]), float(of[2 + code])


def _share(hits: float, cases: float) -> str:
    return number(hits / cases, decimals=2) if cases else "–"


def _shade(gap: float) -> str:
    step = min(BINS - 1, round(abs(gap) / _WIDEST_GAP * (BINS - 1)))
    if not step:
        return "correct-0"
    return f"{'error' if gap < 0 else 'correct'}-{step}"
