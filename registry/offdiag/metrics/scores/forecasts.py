"""Scores with their actual classes: read as probabilities, as a ranking, and in order.

Area under the curve, average precision, Kolmogorov-Smirnov distance, ROC, precision-recall and
calibration bins are all sums over the distinct scores of positive and negative samples in
order. Sorting the two groups apart needs no index array, which makes it several times faster
than ranking all samples, and every count stays a whole number, so ties are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.spec import WILSON, Direction, MetricSpec, Scope

SAMPLE_AXIS = 0
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
    def n_samples(self) -> int:
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
        for start in range(0, self.n_samples, step):
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
    """Share of samples whose actual class is among the first k of the ranking; 0 to 1."""
    return MetricValue(int(counts[:k].sum()) / int(counts.sum()))


def _top_k_spec(k: int) -> MetricSpec:
    return MetricSpec(
        key=f"top_{k}_accuracy",
        scope=Scope.PROBABILISTIC,
        interval=WILSON,
        title=f"Top-{k} accuracy",
        formula=f"share of examples whose actual class is among the {k} with the highest score",
        low=0,
        high=1,
        direction=Direction.HIGHER,
        source="Russakovsky et al. 2015, ImageNet large scale visual recognition challenge",
        undefined_when={
            Reason.SCORES_NOT_PROBABILITIES: "only one of two classes has a score, which is no "
            "probability"
        },
        ignores=("everything about scores but their order within an example",),
        other_names={
            "scikit-learn": "top_k_accuracy_score (ties go to the highest class there)",
        },
        notes="Ties go to the class that was declared first."
        + (" This is the accuracy of the highest score." if k == 1 else ""),
    )


SPECS: tuple[MetricSpec, ...] = (*(_top_k_spec(k) for k in range(1, LARGEST_K + 1)),)


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Scores of P positive and M negative cases, each in ascending order.

    Both arrays have one floating type; it is kept, so that two float32 scores tie exactly when
    they are equal in float32.
    """

    positive: NDArray[Any]
    negative: NDArray[Any]

    @property
    def n_positive(self) -> int:
        return len(self.positive)

    @property
    def n_negative(self) -> int:
        return len(self.negative)

    @property
    def n_samples(self) -> int:
        return self.n_positive + self.n_negative

    @cached_property
    def _distinct(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        merged = np.concatenate([self.positive, self.negative])
        # Stable sorting detects the two runs and only merges them.
        merged.sort(kind="stable")
        begins = np.ones(len(merged), dtype=np.bool_)
        np.not_equal(merged[1:], merged[:-1], out=begins[1:])
        places = np.flatnonzero(begins)
        return merged[places], np.append(places, len(merged)).astype(np.int64)

    @property
    def values(self) -> NDArray[Any]:
        """The V distinct scores, ascending."""
        return self._distinct[0]

    @property
    def samples_below(self) -> NDArray[np.int64]:
        """For each distinct score the samples with a smaller one, then all samples; (V + 1,)."""
        return self._distinct[1]

    @cached_property
    def positives_below(self) -> NDArray[np.int64]:
        """The same for positive cases."""
        places = np.searchsorted(self.positive, self.values, side="left")
        return np.append(places, self.n_positive).astype(np.int64)

    @cached_property
    def negatives_below(self) -> NDArray[np.int64]:
        """The same for negative cases."""
        return self.samples_below - self.positives_below

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """One above the largest score, then the distinct scores descending; (V + 1,)."""
        highest = self.values[-1:]
        with np.errstate(over="ignore"):  # Above the largest finite number there is infinity.
            above = np.nextafter(highest, np.array(np.inf, dtype=highest.dtype))
        return np.concatenate([above, self.values[::-1]]).astype(np.float64)

    @property
    def true_positives(self) -> NDArray[np.int64]:
        """Positive cases with at least the score, for each of `thresholds`; (V + 1,)."""
        return self.n_positive - self.positives_below[::-1]

    @property
    def false_positives(self) -> NDArray[np.int64]:
        """Negative cases with at least the score, for each of `thresholds`; (V + 1,)."""
        return self.n_negative - self.negatives_below[::-1]


def rank_scores(is_positive: NDArray[np.bool_], scores: NDArray[Any]) -> RankedScores:
    """Sort finite scores by group. Both arrays have shape (n,)."""
    return RankedScores(np.sort(scores[is_positive]), np.sort(scores[~is_positive]))


def doubled_wins(ranked: RankedScores) -> int:
    """Twice the Mann-Whitney U: 2 for each pair won by the positive case, 1 for a tie.

    Between 0 and 2 P M, and exact. The shorter array is looked up in the longer one.
    """
    positive, negative = ranked.positive, ranked.negative
    if len(positive) <= len(negative):
        return _sum_of_places(negative, positive)
    return 2 * len(positive) * len(negative) - _sum_of_places(positive, negative)


def _sum_of_places(among: NDArray[Any], wanted: NDArray[Any]) -> int:
    lower = np.searchsorted(among, wanted, side="left")
    upper = np.searchsorted(among, wanted, side="right")
    return int(lower.sum()) + int(upper.sum())
