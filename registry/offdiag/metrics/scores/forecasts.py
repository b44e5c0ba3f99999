"""Scores with their actual classes, read as probabilities, as a ranking, or in sorted order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.scores.ranking import (
    SAMPLES_PER_BLOCK,
    RankedScores,
    ascending_order,
    rank_in_place,
    rank_scores,
)
from offdiag.metrics.spec import OF_SCORES, WILSON, MetricSpec

CLASS_AXIS = 1
"""Axis of an (n, K) score table along which the class changes."""
LARGEST_K = 5
"""Top-k accuracy is reported for k = 1 .. 5 as far as k is below the number of classes."""
T = TypeVar("T")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: spreads the bits of a hash (Knuth, TAOCP 3, 6.4)."""
CELLS_AT_ONCE = 1 << 18
"""Scores processed at a time; bounds the memory of work arrays."""


def sum_tolerance(n_classes: int) -> float:
    """How far the sum of K probabilities may be from 1."""
    return 1e-6 + n_classes * 2.0**-24


@dataclass(frozen=True, eq=False)
class Forecasts:
    """Finite scores of n samples.

    `actual` holds codes 0 .. K - 1, shape (n,). `scores` is float32 or float64 of shape
    (n, K), one column for each class in label order. With two classes it may have one column
    instead, the score of class `positive`. `positive` is the code of the positive class, or None
    if there is none.
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
        normalised in single precision still count as probabilities.
        """
        if not ((self.scores >= 0).all() and (self.scores <= 1).all()):
            return False
        if not self.has_all_columns:
            return True
        sums = self.scores.sum(axis=CLASS_AXIS, dtype=np.float64)
        return bool((np.abs(sums - 1) <= sum_tolerance(self.n_classes)).all())

    @cached_property
    def support(self) -> NDArray[np.int64]:
        """Samples of each class, (K,)."""
        counts = np.zeros(self.n_classes, dtype=np.int64)
        for start in range(0, self.n_samples, SAMPLES_PER_BLOCK):
            part = self.actual[start : start + SAMPLES_PER_BLOCK]
            counts += np.bincount(part, minlength=self.n_classes)
        return counts

    @cached_property
    def table(self) -> NDArray[Any]:
        """A column for each class, (n, K); 1 - p stands in for a class without a column."""
        return self.scores if self.has_all_columns else self.rows(slice(None))

    def rows(self, part: slice | NDArray[np.integer[Any]]) -> NDArray[Any]:
        if self.has_all_columns:
            return np.asarray(self.scores[part])
        # In double precision, 1 - p of a single-precision p loses nothing that matters.
        p = self.scores[part, 0].astype(np.float64)
        return two_columns(1 - p, p) if self.positive == 1 else two_columns(p, 1 - p)

    def of_class(self, code: int) -> NDArray[Any]:
        """Scores for one class, (n,); for a class without a column, the other's scores, negated.

        Only their order is meant to be used.
        """
        if self.has_all_columns:
            return self.scores[:, code]
        column = self.scores[:, 0]
        return -column if self.is_negated(code) else column

    def is_negated(self, code: int) -> bool:
        """Whether a class is ranked by the negated scores of the other of two classes."""
        return not self.has_all_columns and code != self.positive

    def of_actual(self) -> NDArray[np.float64]:
        """The score given to the actual class of each sample, (n,)."""
        given = [np.zeros(0)]
        for actual, rows in self.blocks():
            places = actual.astype(np.int64)[:, np.newaxis]
            given.append(
                np.take_along_axis(rows, places, axis=CLASS_AXIS)[:, 0].astype(np.float64)
            )
        return np.concatenate(given)

    def blocks(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Actual codes and rows of `table` in consecutive blocks of bounded size."""
        step = max(1, CELLS_AT_ONCE // self.n_classes)
        for start in range(0, self.n_samples, step):
            part = slice(start, start + step)
            yield self.actual[part], self.rows(part)

    @cached_property
    def equal_rows(self) -> EqualRows:
        """The samples grouped by equal scores in all columns."""
        return equal_rows(self.scores)

    @cached_property
    def _known(self) -> dict[Any, Any]:
        return {}

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """The result of `compute` under a key, computed the first time and kept.

        Metrics, intervals and curves of a class all begin with the same sorting.
        """
        if key not in self._known:
            self._known[key] = compute()
        found: T = self._known[key]
        return found

    def order(self, code: int) -> NDArray[np.integer[Any]]:
        """Places of the samples by their score for a class with a column, ascending, (n,)."""
        return self.once(("order", code), lambda: ascending_order(self.scores[:, code]))

    def ranked(self, code: int) -> RankedScores:
        """Scores for one class, of its samples and of all others."""
        if self.is_negated(code):
            return self.ranked(1 - code).mirrored()
        return self.once(("ranked", code), lambda: self._ranked(code))

    def _ranked(self, code: int) -> RankedScores:
        if self.n_classes == 2:
            return rank_scores(self.actual == code, self.of_class(code))
        order = self.order(code)
        return RankedScores(self.scores[order, code], self.actual[order] == code)

    def ranked_top_label(self) -> RankedScores:
        """Largest probability of each sample; positive where its class is the actual one.

        Equal probabilities go to the class with the lowest index.
        """
        return self.once("top label", self._ranked_top_label)

    def _ranked_top_label(self) -> RankedScores:
        is_right = np.empty(self.n_samples, dtype=np.bool_)
        largest = np.empty(self.n_samples, dtype=self.rows(slice(0)).dtype)
        start = 0
        for actual, rows in self.blocks():
            part = slice(start, start + len(actual))
            is_right[part] = rows.argmax(axis=CLASS_AXIS) == actual
            rows.max(axis=CLASS_AXIS, out=largest[part])
            start = part.stop
        return rank_in_place(is_right, largest)


def two_columns(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """A table (n, 2) with contiguous columns, which makes sums several times faster."""
    table = np.empty((len(first), 2), dtype=first.dtype, order="F")
    table[:, 0], table[:, 1] = first, second
    return table


@dataclass(frozen=True, slots=True, eq=False)
class EqualRows:
    """n rows ordered so that equal ones are neighbours: `order` (n,), and where groups start.

    Within a group rows keep their order.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]


def equal_rows(table: NDArray[Any]) -> EqualRows:
    """Find equal rows of an (n, K) table by a hash, comparing the rows that share one."""
    hashed = np.zeros(len(table), dtype=np.uint64)
    step = max(1, CELLS_AT_ONCE // table.shape[CLASS_AXIS])
    for start in range(0, len(table), step):
        # Adding 0 gives -0.0 and 0.0 the same bits.
        bits = (table[start : start + step].astype(np.float64) + 0).view(np.uint64)
        part = hashed[start : start + step]
        for column in range(table.shape[CLASS_AXIS]):
            part ^= bits[:, column]
            part *= _MULTIPLIER
            part ^= part >> 29
    order = np.argsort(hashed, kind="stable")
    neighbours = hashed[order]
    begins = np.append(True, neighbours[1:] != neighbours[:-1])
    alike = np.flatnonzero(~begins)
    differ = (table[order[alike]] != table[order[alike - 1]]).any(axis=CLASS_AXIS)
    if differ.any():  # Two rows with one hash: happens once in 10^7 tables of 10^6 rows.
        order = np.lexsort([table[:, column] for column in range(table.shape[CLASS_AXIS])])
        begins = np.append(True, (table[order[1:]] != table[order[:-1]]).any(axis=CLASS_AXIS))
    return EqualRows(order, np.flatnonzero(begins))


def rank_counts(forecasts: Forecasts) -> NDArray[np.int64]:
    """How many samples have their actual class in place 0, 1, ... K - 1; shape (K,).

    Classes with equal scores are placed by index, the lowest first, so that place 0 is the
    class arg-max picks and top-1 accuracy is the accuracy of the predicted classes.
    """
    return forecasts.once("rank counts", lambda: _rank_counts(forecasts))


def _rank_counts(forecasts: Forecasts) -> NDArray[np.int64]:
    counts = np.zeros(forecasts.n_classes, dtype=np.int64)
    for places in places_of_actual(forecasts):
        counts += np.bincount(places, minlength=forecasts.n_classes)
    return counts


def places_of_actual(forecasts: Forecasts) -> Iterator[NDArray[np.intp]]:
    """The place of the actual class among the scores of each sample, as in `rank_counts`."""
    classes = np.arange(forecasts.n_classes)
    for actual, table in forecasts.blocks():
        codes = actual.astype(np.int64)[:, np.newaxis]
        own = np.take_along_axis(table, codes, axis=CLASS_AXIS)
        ahead = (table > own) | ((table == own) & (classes < codes))
        yield np.count_nonzero(ahead, axis=CLASS_AXIS)


def top_k_accuracy(counts: NDArray[np.int64], *, k: int) -> MetricValue:
    """Share of samples whose actual class is among the first k of the ranking; 0 to 1."""
    return MetricValue(int(counts[:k].sum()) / int(counts.sum()))


_RANKS_IN_CELLS = {
    Reason.FORECASTS_IN_CELLS: "scores were counted for each class separately, so only the "
    "highest class of an example is known"
}


def _top_k_spec(k: int) -> MetricSpec:
    return OF_SCORES(
        key=f"top_{k}_accuracy",
        interval=WILSON,
        title=f"Top-{k} accuracy",
        formula=f"share of examples whose actual class is among the {k} with the highest score",
        source="Russakovsky et al. 2015, ImageNet large scale visual recognition challenge",
        undefined_when={
            Reason.SCORES_NOT_PROBABILITIES: "only one of two classes has a score, and it is not "
            "a probability"
        }
        | ({} if k == 1 else _RANKS_IN_CELLS),
        ignores=("the scores, except for their order within an example",),
        other_names={
            "scikit-learn": "top_k_accuracy_score (ties go to the highest class there)",
        },
        notes="Of equal scores, the class declared first ranks higher."
        + (
            " This is the accuracy of predicting the class with the highest score."
            if k == 1
            else ""
        ),
    )


SPECS: tuple[MetricSpec, ...] = (*(_top_k_spec(k) for k in range(1, LARGEST_K + 1)),)
