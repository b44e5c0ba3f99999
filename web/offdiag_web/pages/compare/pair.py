"""Comparison of two runs: differences, churn, matrices, and curves over each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from offdiag.comparison.churn import PairedOutcome
from offdiag.comparison.differences import CellDifferences
from offdiag.comparison.pair import PairComparison, PairedFacts
from offdiag.domain.number_text import p_value
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import numbers_of
from offdiag.palette import error_step
from offdiag.store.compared_runs import ComparedRun
from offdiag_web.charts.marks import BarPart, churn_bar
from offdiag_web.components import numbers
from offdiag_web.components.classes import (
    ClassHead,
    busiest_class,
    class_head,
    class_order,
    window_around,
)
from offdiag_web.components.controls import Segment
from offdiag_web.components.matrix import (
    Density,
    MatrixView,
    matrix_density,
    matrix_view,
    turned_heads,
)
from offdiag_web.components.matrix_colours import ColourScale, colour_scale
from offdiag_web.components.metric_values import Notes
from offdiag_web.pages.compare.metric_differences import (
    ClassTable,
    MetricTable,
    class_table,
    metric_table,
)
from offdiag_web.urls.compare import CompareAddress, MatrixChoice
from offdiag_web.urls.run import MatrixAddress

PAIRED_OUTCOME_TEXTS: dict[PairedOutcome, str] = {
    PairedOutcome.BOTH_RIGHT: "both right",
    PairedOutcome.ONLY_A: "only A right, B broke it",
    PairedOutcome.ONLY_B: "only B right, B fixed it",
    PairedOutcome.BOTH_WRONG: "both wrong",
}
_CSS = {
    PairedOutcome.BOTH_RIGHT: "churn-right",
    PairedOutcome.ONLY_A: "churn-a",
    PairedOutcome.ONLY_B: "churn-b",
    PairedOutcome.BOTH_WRONG: "churn-wrong",
}
_LETTERS = {PairedOutcome.ONLY_A: "A", PairedOutcome.ONLY_B: "B"}


@dataclass(frozen=True, slots=True)
class ChurnEntry:
    """One outcome: its words, its count and the address of its examples."""

    text: str
    count: str
    share: str
    url: str | None
    css: str


def churn_view(
    facts: PairedFacts, address: CompareAddress, *, is_weighted: bool = False
) -> dict[str, object]:
    """Present the churn of two runs with at least one example."""
    total = facts.churn.total
    said = ", ".join(
        f"{PAIRED_OUTCOME_TEXTS[outcome]} {numbers.count(facts.churn.of(outcome))}"
        for outcome in PairedOutcome
    )
    return {
        "bar": churn_bar(
            [
                BarPart(facts.churn.of(outcome), _CSS[outcome], _LETTERS.get(outcome, ""))
                for outcome in PairedOutcome
            ],
            name=f"Of {numbers.plural(total, 'example')}: {said}",
        ),
        "entries": tuple(
            ChurnEntry(
                PAIRED_OUTCOME_TEXTS[outcome],
                numbers.count(facts.churn.of(outcome)),
                numbers.fine_percent(facts.churn.of(outcome), total),
                address.examples_url(outcome) if facts.churn.of(outcome) else None,
                _CSS[outcome],
            )
            for outcome in PairedOutcome
        ),
        "tests": (_WEIGHTED,) if is_weighted else tuple(_tests(facts)),
    }


_WEIGHTED = (
    "Examples are weighted, so exact tests, which count examples, do not apply. Differences are "
    "tested with the linearized variance used for surveys."
)


def _tests(facts: PairedFacts) -> list[str]:
    if facts.mcnemar is None:
        return []
    exact, mid = (p_value(p) for p in (facts.mcnemar.exact_p, facts.mcnemar.mid_p))
    found = [f"McNemar (equally many correct predictions): exact {exact}, mid-p {mid}."]
    margins, symmetry = facts.margins, facts.symmetry
    if margins is not None and margins.chi2 is not None and margins.p is not None:
        found.append(
            "Stuart-Maxwell (classes predicted equally often): "
            f"χ² = {margins.chi2:,.1f}, {_degrees(margins.df)}, {p_value(margins.p)}."
        )
    if symmetry is not None and symmetry.chi2 is not None and symmetry.p is not None:
        found.append(
            "Bowker (classes exchanged evenly): "
            f"χ² = {symmetry.chi2:,.1f}, {_degrees(symmetry.df)}, {p_value(symmetry.p)}."
        )
    return found


def _degrees(df: int) -> str:
    return f"{df} degree{'s' if df != 1 else ''} of freedom"


_MATRIX_TEXTS: dict[MatrixChoice, str] = {"a": "A", "b": "B", "diff": "B − A"}


@dataclass(frozen=True, slots=True)
class PairView:
    """Everything below the verdict of two runs.

    Either `difference` or `matrix` is shown, neither for multi-label runs; `changes` are listed if
    the matrix is only a window.
    """

    metrics: MetricTable
    churn: dict[str, object] | None
    classes: ClassTable
    matrices: tuple[Segment, ...]
    difference: DifferenceMatrix | None
    matrix: MatrixView | None
    changes: tuple[LargestChange, ...]
    notes: tuple[str, ...]


def pair_view(
    pair: PairComparison, runs: tuple[ComparedRun, ...], address: CompareAddress
) -> PairView:
    notes = Notes()
    is_large = len(pair.labels) > LARGEST_TABLE
    choices = tuple(each for each in _MATRIX_TEXTS if each != "diff" or pair.cells is not None)
    shown = address.matrix if address.matrix in choices else choices[0]
    return PairView(
        metrics=metric_table(pair, notes),
        churn=None
        if pair.paired is None
        else churn_view(pair.paired, address, is_weighted=pair.is_weighted),
        classes=class_table(pair, address, notes),
        matrices=tuple(
            Segment(
                _MATRIX_TEXTS[choice],
                replace(address, matrix=choice).url(),
                choice == shown,
            )
            for choice in choices
        ),
        difference=difference_matrix(pair)
        if shown == "diff" and pair.matrices is not None
        else None,
        matrix=_one_of_both(pair, runs, shown),
        changes=largest_changes(pair) if is_large and pair.cells is not None else (),
        notes=tuple(notes.texts),
    )


def _one_of_both(
    pair: PairComparison, runs: tuple[ComparedRun, ...], choice: MatrixChoice
) -> MatrixView | None:
    """The matrix of A or of B, with a common colour scale."""
    matrices = pair.matrices
    if choice == "diff" or matrices is None:
        return None
    at = 0 if choice == "a" else 1
    codes = None
    if len(pair.labels) > LARGEST_TABLE:
        codes = window_around(matrices[0], busiest_class(matrices[0]))
    scale = shared_scale(matrices)[at]
    return matrix_view(matrices[at], MatrixAddress(runs[at].id), codes, shared=scale)


LARGEST_TABLE = 30
WINDOW_CLASSES = 12
MOST_CHANGES = 12


@dataclass(frozen=True, slots=True)
class DifferenceCell:
    """Signed points of the actual class, signed samples, and what the colour means, in words."""

    share: str
    count: str | None
    css: str
    words: str | None


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One actual class."""

    head: ClassHead
    cells: tuple[DifferenceCell, ...]
    total: str


@dataclass(frozen=True, slots=True)
class DifferenceMatrix:
    """A table with actual classes as rows and predicted classes as columns."""

    heads: tuple[ClassHead, ...]
    turned_heads: bool
    rows: tuple[DifferenceRow, ...]
    caption: str
    end: str | None
    density: Density


@dataclass(frozen=True, slots=True)
class LargestChange:
    """A cell in a list: which one, by how much it changed, and whether that is significant."""

    actual: ClassHead
    predicted: ClassHead
    is_correct: bool
    share: str
    count: str
    verdict: str


def difference_matrix(pair: PairComparison, *, largest: int = LARGEST_TABLE) -> DifferenceMatrix:
    """The whole matrix of up to `largest` classes, or a window of those that changed most."""
    codes, cells = _shown(pair, largest), cells_of(pair)
    reach = float(np.nanmax(np.abs(cells.share), initial=0.0))
    heads = tuple(class_head(pair.labels[code]) for code in codes)
    density = matrix_density(len(codes))
    return DifferenceMatrix(
        heads=heads,
        turned_heads=turned_heads(heads, density),
        rows=tuple(
            DifferenceRow(
                class_head(pair.labels[actual]),
                tuple(_cell(cells, (actual, predicted), reach) for predicted in codes),
                numbers.count(int(numbers_of(pair.first).actual[actual])),
            )
            for actual in codes
        ),
        caption=_caption(pair, len(codes)),
        end=f"{_points(reach).lstrip('+')} pp" if reach > 0 else None,
        density=density,
    )


def largest_changes(pair: PairComparison) -> tuple[LargestChange, ...]:
    """The cells that changed most by their number of samples; equal ones in label order."""
    cells = cells_of(pair)
    order = np.argsort(-np.abs(cells.gained), kind="stable")[:MOST_CHANGES].tolist()
    return tuple(
        LargestChange(
            class_head(pair.labels[int(cells.actual[place])]),
            class_head(pair.labels[int(cells.predicted[place])]),
            bool(cells.actual[place] == cells.predicted[place]),
            _points(float(cells.share[place])),
            numbers.signed(int(cells.gained[place])),
            _words(cells, place) or "no change",
        )
        for place in order
        if cells.gained[place] != 0
    )


def cells_of(pair: PairComparison) -> CellDifferences:
    """The cells of two runs; only runs with one class per sample have a matrix."""
    assert pair.cells is not None  # noqa: S101  # as the page requests it
    return pair.cells


def _shown(pair: PairComparison, largest: int) -> list[int]:
    codes = class_order(pair.first, None)
    if len(codes) <= largest:
        return codes
    moved, cells = np.zeros(len(codes), np.int64), cells_of(pair)
    np.add.at(moved, cells.actual, np.abs(cells.gained))
    np.add.at(moved, cells.predicted, np.abs(cells.gained))
    return sorted(codes, key=lambda code: -int(moved[code]))[:WINDOW_CLASSES]


def _cell(cells: CellDifferences, place: tuple[int, int], reach: float) -> DifferenceCell:
    at = cells.places.get(place)
    diagonal = " diagonal" if place[0] == place[1] else ""
    if at is None:
        return DifferenceCell("0", None, f"zero{diagonal}", None)
    share, gained = float(cells.share[at]), int(cells.gained[at])
    if math.isnan(share):
        return DifferenceCell("n/a", numbers.signed(gained), f"zero{diagonal}", None)
    if share == 0:
        return DifferenceCell("0", None, f"zero{diagonal}", None)
    is_worse, is_certain = bool(cells.is_worse[at]), bool(cells.is_certain[at])
    ramp = "error" if is_worse else "correct"
    # The scale of errors, by the square root, shows small differences too.
    css = f"{ramp}-{error_step(abs(share), reach)}{diagonal}"
    return DifferenceCell(
        _points(share),
        numbers.signed(gained),
        css + (" worse" if is_worse else "") + (" certain" if is_certain else ""),
        _words(cells, at),
    )


def _points(share: float) -> str:
    """Whole percentage points with a sign; only 0 is written as 0."""
    if math.isnan(share):
        return "n/a"
    if share == 0:
        return "0"
    sign = "+" if share > 0 else numbers.MINUS
    size = abs(100 * share)
    return f"{sign}<1" if size < 0.5 else f"{sign}{size:.0f}"


def _words(cells: CellDifferences, at: int) -> str | None:
    better, worse = bool(cells.is_better[at]), bool(cells.is_worse[at])
    if not better and not worse:
        return None
    certainty = "significant" if cells.is_certain[at] else "not significant"
    return f"{'better' if better else 'worse'}, {certainty}"


def _caption(pair: PairComparison, n_shown: int) -> str:
    n_classes = len(pair.labels)
    part = ""
    if n_shown < n_classes:
        part = f"The {n_shown} of {numbers.count(n_classes)} classes that changed most. "
    return f"{part}Rows: actual class. Columns: predicted class. Change from A to B."


def shared_scale(matrices: Sequence[ConfusionMatrix]) -> list[ColourScale]:
    """The scales of several matrices with common ends, which makes their colours comparable."""
    scales = [colour_scale(matrix, "row") for matrix in matrices]
    correct = max(scales, key=lambda scale: scale.largest_correct)
    error = max(scales, key=lambda scale: scale.largest_error)
    return [
        replace(
            scale,
            largest_correct=correct.largest_correct,
            largest_error=error.largest_error,
            correct_end=correct.correct_end,
            error_end=error.error_end,
        )
        for scale in scales
    ]
