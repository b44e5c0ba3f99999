"""Scores with their actual classes, read as probabilities or as a ranking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.spec import WILSON, Direction, MetricSpec, Scope

CASE_AXIS = 0
"""Axis of an (n, K) score table along which the case changes."""
CLASS_AXIS = 1
"""Axis of an (n, K) score table along which the class changes."""
LARGEST_K = 5
"""Top-k accuracy is given for k = 1 .. 5 as far as k is below the number of classes."""
CELLS_AT_ONCE = 1 << 21
"""Scores worked on in one go; bounds the memory of work arrays."""


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Finite scores of n cases.

    `actual` holds codes 0 .. K - 1, shape (n,). `scores` is float32 or float64 of shape
    (n, K), one column for each class in label order. With two classes it may have one column
    instead, the score of class `positive`. `positive` is None where no class is the positive
    one; it is a code otherwise.
    """

    actual: NDArray[Any]
    scores: NDArray[Any]
    n_classes: int
    positive: int | None = None

    @property
    def n_cases(self) -> int:
        return len(self.actual)

    @property
    def has_all_columns(self) -> bool:
        """Whether every class has a score of its own."""
        return int(self.scores.shape[CLASS_AXIS]) == self.n_classes

    @cached_property
    def are_probabilities(self) -> bool:
        """Whether all scores lie in [0, 1] and, with a column for each class, rows sum to 1.

        A sum may be off by 1e-6, plus one rounding to float32 for each class: scores that were
        normalised in single precision still are probabilities.
        """
        if not ((self.scores >= 0).all() and (self.scores <= 1).all()):
            return False
        if not self.has_all_columns:
            return True
        sums = self.scores.sum(axis=CLASS_AXIS, dtype=np.float64)
        tolerance = 1e-6 + self.n_classes * 2.0**-24
        return bool((np.abs(sums - 1) <= tolerance).all())

    @cached_property
    def table(self) -> NDArray[Any]:
        """A column for each class, (n, K); 1 - p stands in for a class without a column."""
        if self.has_all_columns:
            return self.scores
        # In double precision 1 - p of a single-precision p loses nothing that matters.
        p = self.scores.reshape(-1).astype(np.float64)
        columns = (1 - p, p) if self.positive == 1 else (p, 1 - p)
        return np.stack(columns, axis=CLASS_AXIS)

    def of_class(self, code: int) -> NDArray[Any]:
        """Scores for one class, (n,); for the class without a column those of the other, negated.

        Only their order is meant to be used.
        """
        if self.has_all_columns:
            return self.scores[:, code]
        column = self.scores[:, 0]
        return column if code == self.positive else -column

    def of_actual(self) -> NDArray[np.float64]:
        """Score that the actual class of each case got, (n,)."""
        places = self.actual.astype(np.int64)[:, np.newaxis]
        return np.take_along_axis(self.table, places, axis=CLASS_AXIS)[:, 0].astype(np.float64)

    def blocks(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Actual codes and rows of `table` in consecutive blocks of bounded size."""
        step = max(1, CELLS_AT_ONCE // self.n_classes)
        for start in range(0, self.n_cases, step):
            yield self.actual[start : start + step], self.table[start : start + step]


def rank_counts(forecasts: Forecasts) -> NDArray[np.int64]:
    """How many cases have their actual class in place 0, 1, ... K - 1; shape (K,).

    Classes with equal scores are placed by index, the lowest first, so that place 0 is what
    arg-max picks and top-1 accuracy is the accuracy of the predicted classes.
    """
    counts = np.zeros(forecasts.n_classes, dtype=np.int64)
    classes = np.arange(forecasts.n_classes)
    for actual, table in forecasts.blocks():
        codes = actual.astype(np.int64)[:, np.newaxis]
        own = np.take_along_axis(table, codes, axis=CLASS_AXIS)
        ahead = (table > own) | ((table == own) & (classes < codes))
        place = np.count_nonzero(ahead, axis=CLASS_AXIS)
        counts += np.bincount(place, minlength=forecasts.n_classes)
    return counts


def top_k_accuracy(counts: NDArray[np.int64], *, k: int) -> MetricValue:
    """Share of cases whose actual class is among the first k of the ranking; 0 to 1."""
    return MetricValue(int(counts[:k].sum()) / int(counts.sum()))


def _top_k_spec(k: int) -> MetricSpec:
    return MetricSpec(
        key=f"top_{k}_accuracy",
        scope=Scope.PROBABILISTIC,
        interval=WILSON,
        title=f"Top-{k} accuracy",
        formula=f"share of cases whose actual class is among the {k} with the highest score",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source="Russakovsky et al. 2015, ImageNet large scale visual recognition challenge",
        undefined_when={
            Reason.SCORES_NOT_PROBABILITIES: "only one of two classes has a score, which is no "
            "probability"
        },
        ignores=("everything about scores but their order within a case",),
        other_names={
            "scikit-learn": "top_k_accuracy_score (ties go to the highest class there)",
        },
        notes="Ties go to the class that was declared first."
        + (" This is the accuracy of the highest score." if k == 1 else ""),
    )


SPECS: tuple[MetricSpec, ...] = (*(_top_k_spec(k) for k in range(1, LARGEST_K + 1)),)
