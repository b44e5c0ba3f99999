"""One two-by-two table for each label: was it in the true set, was it in the predicted one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.multilabel.patterns import CASE_AXIS
from offdiag.metrics.one_vs_rest import OneVsRest
from offdiag.metrics.tally import widened


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Counts over n cases for each of q labels, int64 arrays of shape (q,)."""

    n_cases: int
    true_positives: NDArray[np.int64]
    actual: NDArray[np.int64]
    """Cases whose true set holds the label (its support)."""
    predicted: NDArray[np.int64]
    """Cases whose predicted set holds the label."""

    def one_vs_rest(self) -> OneVsRest:
        """The four cells of each label, shape (q,), for the per-class formulas."""
        hits, actual, predicted = widened(
            4 * self.n_cases**2, self.true_positives, self.actual, self.predicted
        )
        fp = predicted - hits
        return OneVsRest(tp=hits, fn=actual - hits, fp=fp, tn=self.n_cases - actual - fp)

    def pooled(self) -> OneVsRest:
        """The four cells added up over all labels, as Python integers of shape ()."""
        cells = self.one_vs_rest()
        return OneVsRest(
            tp=_added_up(cells.tp),
            fn=_added_up(cells.fn),
            fp=_added_up(cells.fp),
            tn=_added_up(cells.tn),
        )

    def __add__(self, other: LabelCounts) -> LabelCounts:
        return LabelCounts(
            self.n_cases + other.n_cases,
            self.true_positives + other.true_positives,
            self.actual + other.actual,
            self.predicted + other.predicted,
        )


def count_labels(actual: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> LabelCounts:
    """Count each label of two (n, q) indicator arrays."""
    return LabelCounts(
        len(actual),
        cases_with_label(actual & predicted),
        cases_with_label(actual),
        cases_with_label(predicted),
    )


def cases_with_label(sets: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many of the n sets hold each label, (n, q) -> (q,)."""
    return np.asarray(np.count_nonzero(sets, axis=CASE_AXIS), np.int64)


def _added_up(counts: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(sum(counts.tolist()), dtype=object)
