"""Costs by cell of the matrix as coloured tables, and both sides of a binary problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.texts import run_label
from offdiag.domain.number_text import Amounts, amounts_for
from offdiag.metrics.costs.summary import expected_samples
from offdiag.metrics.costs.what_if import other_positive_class
from offdiag.metrics.metric_text import PER_CASES
from offdiag.metrics.suite import evaluate_stack
from offdiag.services.what_if.costs import WhatIf
from offdiag_web.charts.marks import run_style
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head
from offdiag_web.components.controls import Segment
from offdiag_web.components.matrix_colours import amount_class
from offdiag_web.components.metric_values import Notes, ShownValue, shown
from offdiag_web.urls.costs import WhatIfAddress

MOST_CELLS = 800
"""Most cells of all tables together; beyond, only the most expensive errors are shown."""
MOST_EXPENSIVE = 8


@dataclass(frozen=True, slots=True)
class HeatCell:
    """An amount and the step of its ramp; no text if it rounds to nothing."""

    text: str
    css: str


@dataclass(frozen=True, slots=True)
class HeatRun:
    """One run: a line for each actual class, or the cells of its most expensive confusions."""

    run_label: str
    css: str
    name: str
    total: str
    lines: tuple[tuple[ClassHead, tuple[HeatCell, ...]], ...]
    cells: tuple[tuple[str, str, str, str, str], ...]


@dataclass(frozen=True, slots=True)
class HeatView:
    """Tables, or lists if there would be too many cells. `end` is that of the ramp."""

    heads: tuple[ClassHead, ...]
    turned_heads: bool
    tables: tuple[HeatRun, ...]
    lists: tuple[HeatRun, ...]
    end: str
    has_gains: bool
    order: str


@dataclass(frozen=True, slots=True)
class _Ramp:
    """The format and colour of the amounts of cells: `largest` is the end of the ramp."""

    amounts: Amounts
    largest: float

    def cell(self, amount: float) -> HeatCell:
        text = self.amounts.text(amount)
        if amount == 0 or text[0] in "<>":
            return HeatCell("" if amount == 0 else "·", "zero")
        return HeatCell(text, amount_class(amount, self.largest))


def heat_view(found: WhatIf, order: Sequence[int], *, selected: Sequence[int]) -> HeatView:
    """Present where the costs of the selected runs (indices) arise, with classes in this order."""
    amounts_of = [_per_cell(found, place) for place in selected]
    largest = max((float(np.abs(cells).max()) for cells in amounts_of), default=0.0)
    amounts = amounts_for([largest])
    heads = tuple(class_head(_names(found)[code]) for code in order)
    totals = amounts_for([float(cells.sum()) for cells in amounts_of])
    ramp = _Ramp(amounts, largest)
    is_small = len(order) ** 2 * len(selected) <= MOST_CELLS
    runs = tuple(
        HeatRun(
            run_label=run_label(place),
            css=run_style(place).css_class,
            name=found.answers[place].run.name,
            total=totals.text(float(cells.sum())),
            lines=_lines(found, cells, order, ramp) if is_small else (),
            cells=() if is_small else _most_expensive(found, place, cells, ramp),
        )
        for place, cells in zip(selected, amounts_of, strict=True)
    )
    return HeatView(
        heads=heads,
        turned_heads=max(len(head.short) for head in heads) > 5,
        tables=runs if is_small else (),
        lists=() if is_small else runs,
        end=amounts.text(largest),
        has_gains=any((cells < 0).any() for cells in amounts_of),
        order=" ".join(map(str, order)),
    )


def _per_cell(found: WhatIf, place: int) -> NDArray[np.float64]:
    """Cost of each cell per `PER_CASES` samples, (K, K)."""
    run = found.frame.runs[place]
    cases, _ = expected_samples(run.matrix.counts, prevalence=found.scenario.prevalence)
    return cases * found.scenario.effective.weights / run.matrix.total * PER_CASES


def _lines(
    found: WhatIf, cells: NDArray[np.float64], order: Sequence[int], ramp: _Ramp
) -> tuple[tuple[ClassHead, tuple[HeatCell, ...]], ...]:
    return tuple(
        (
            class_head(_names(found)[actual]),
            tuple(ramp.cell(float(cells[actual, predicted])) for predicted in order),
        )
        for actual in order
    )


def _most_expensive(
    found: WhatIf, place: int, cells: NDArray[np.float64], ramp: _Ramp
) -> tuple[tuple[str, str, str, str, str], ...]:
    names, counts = _names(found), found.frame.runs[place].matrix.counts
    by_cost = np.argsort(-np.abs(cells), axis=None, kind="stable")[:MOST_EXPENSIVE]
    places = [divmod(int(flat), len(names)) for flat in by_cost]
    return tuple(
        (
            names[actual],
            names[predicted],
            ramp.amounts.text(float(cells[actual, predicted])),
            amount_class(float(cells[actual, predicted]), ramp.largest),
            f"{int(counts[actual, predicted]):,}",
        )
        for actual, predicted in places
        if cells[actual, predicted] != 0
    )


def _names(found: WhatIf) -> tuple[str, ...]:
    return found.scenario.costs.labels.names


@dataclass(frozen=True, slots=True)
class SidesLine:
    """One run from the point of view of the positive class."""

    run_label: str
    name: str
    missed: str
    raised: str
    recall: ShownValue
    precision: ShownValue


@dataclass(frozen=True, slots=True)
class BinarySides:
    """All runs from the point of view of one of the two classes; `choices` lead to the other."""

    positive: str
    negative: str
    choices: tuple[Segment, ...]
    lines: tuple[SidesLine, ...]
    notes: tuple[str, ...]


def binary_sides(found: WhatIf, address: WhatIfAddress) -> BinarySides | None:
    """Present misses and false alarms; None unless there are two classes."""
    first = found.frame.runs[0]
    names = first.matrix.labels.names
    if len(names) != 2:
        return None
    stated = address.positive or first.positive_label
    # If nothing is stated, the rarer class is the positive one.
    rarer = names[int(first.matrix.actual[1] <= first.matrix.actual[0])]
    positive = stated if stated in names else rarer
    negative = names[1 - names.index(positive)]
    notes = Notes()
    return BinarySides(
        positive,
        negative,
        tuple(
            Segment(
                numbers.shortened(name),
                WhatIfAddress(address.runs, address.question, name).url(),
                name == positive,
            )
            for name in names
        ),
        tuple(_line(found, place, positive, notes) for place in range(len(found.answers))),
        tuple(notes.texts),
    )


def _line(found: WhatIf, place: int, positive: str, notes: Notes) -> SidesLine:
    run = found.answers[place].run
    matrix = run.matrix
    # The second class is read as the positive one.
    if matrix.labels.names[1] != positive:
        matrix = other_positive_class(matrix)
    (_, raised), (missed, _) = matrix.counts.tolist()
    negatives, positives = matrix.actual.tolist()
    suite = evaluate_stack(matrix.counts, ordinal=False)
    return SidesLine(
        run_label(place),
        run.name,
        numbers.hits_of(missed, positives),
        numbers.hits_of(raised, negatives),
        shown(suite.per_class["recall"].at(1), notes),
        shown(suite.per_class["precision"].at(1), notes),
    )
