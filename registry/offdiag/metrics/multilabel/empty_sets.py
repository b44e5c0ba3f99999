"""What happens to cases where the true set, the predicted set, or both are empty.

The multi-label matrix has no place for them: with nothing predicted its shares divide by zero,
and with nothing true a false alarm would leave no trace. They are counted here instead, so
that no case disappears.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.multilabel.label_counts import cases_with_label
from offdiag.metrics.multilabel.patterns import has_labels


@dataclass(frozen=True, eq=False)
class EmptySets:
    """Counts of cases by which of their sets is empty.

    `n_true_empty` and `n_pred_empty` both include the `both_empty` cases.
    `missed_when_pred_empty` is int64 (q,): how often each label was true while nothing was
    predicted; `spurious_when_true_empty`: how often each was predicted while nothing was true.
    """

    both_empty: int
    n_true_empty: int
    n_pred_empty: int
    missed_when_pred_empty: NDArray[np.int64]
    spurious_when_true_empty: NDArray[np.int64]

    def __add__(self, other: EmptySets) -> EmptySets:
        return EmptySets(
            self.both_empty + other.both_empty,
            self.n_true_empty + other.n_true_empty,
            self.n_pred_empty + other.n_pred_empty,
            self.missed_when_pred_empty + other.missed_when_pred_empty,
            self.spurious_when_true_empty + other.spurious_when_true_empty,
        )


def count_empty_sets(actual: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> EmptySets:
    """Count empty sets in two (n, q) indicator arrays."""
    nothing_true, nothing_predicted = ~has_labels(actual), ~has_labels(predicted)
    return EmptySets(
        both_empty=int(np.count_nonzero(nothing_true & nothing_predicted)),
        n_true_empty=int(np.count_nonzero(nothing_true)),
        n_pred_empty=int(np.count_nonzero(nothing_predicted)),
        missed_when_pred_empty=cases_with_label(actual[nothing_predicted]),
        spurious_when_true_empty=cases_with_label(predicted[nothing_true]),
    )
