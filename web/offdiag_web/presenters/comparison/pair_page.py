"""Two runs on one page."""

from __future__ import annotations

from dataclasses import dataclass, replace

from offdiag.comparison.pair import PairComparison
from offdiag.store.compared_runs import ComparedRun
from offdiag_web.addresses.compare import CompareAddress, MatrixChoice
from offdiag_web.presenters.comparison.churn import ChurnView, churn_view
from offdiag_web.presenters.comparison.classes import ClassTable, class_table
from offdiag_web.presenters.comparison.difference_lines import MetricTable, metric_table
from offdiag_web.presenters.comparison.difference_matrix import (
    LARGEST_TABLE,
    DifferenceMatrix,
    LargestChange,
    difference_matrix,
    largest_changes,
)
from offdiag_web.presenters.comparison.shared_scale import shared_scale
from offdiag_web.presenters.matrix import MatrixView, matrix_view
from offdiag_web.presenters.matrix_window import busiest_class, window_around
from offdiag_web.presenters.segments import Segment
from offdiag_web.presenters.values import Notes
from offdiag_web.urls.matrix import MatrixAddress

_MATRIX_TEXTS: dict[MatrixChoice, str] = {"a": "A", "b": "B", "diff": "B − A"}


@dataclass(frozen=True, slots=True)
class PairView:
    """Everything below the verdict of two runs.

    One of `difference` and `matrix` is shown; `changes` are listed where the matrix is a window.
    """

    metrics: MetricTable
    churn: ChurnView | None
    classes: ClassTable
    matrices: tuple[Segment, ...]
    difference: DifferenceMatrix | None
    matrix: MatrixView | None
    changes: tuple[LargestChange, ...]
    notes: tuple[str, ...]


def pair_view(
    pair: PairComparison, runs: tuple[ComparedRun, ...], address: CompareAddress
) -> PairView:
    """Present a pair as its address asks for."""
    notes = Notes()
    is_large = len(pair.labels) > LARGEST_TABLE
    return PairView(
        metrics=metric_table(pair, notes),
        churn=None if pair.paired is None else churn_view(pair.paired, address),
        classes=class_table(pair, address, notes),
        matrices=tuple(
            Segment(
                _MATRIX_TEXTS[choice],
                replace(address, matrix=choice).url(),
                choice == address.matrix,
            )
            for choice in _MATRIX_TEXTS
        ),
        difference=difference_matrix(pair) if address.matrix == "diff" else None,
        matrix=_one_of_both(pair, runs, address),
        changes=largest_changes(pair) if is_large else (),
        notes=tuple(notes.texts),
    )


def _one_of_both(
    pair: PairComparison, runs: tuple[ComparedRun, ...], address: CompareAddress
) -> MatrixView | None:
    """The matrix of A or of B, coloured so that a look from one to the other compares them."""
    if address.matrix == "diff":
        return None
    at = 0 if address.matrix == "a" else 1
    matrices = (pair.first, pair.second)
    codes = None
    if len(pair.labels) > LARGEST_TABLE:
        codes = window_around(matrices[0], busiest_class(matrices[0]))
    scale = shared_scale(matrices, "row")[at]
    return matrix_view(matrices[at], MatrixAddress(runs[at].id), codes, shared=scale)
