"""Counts of (actual, first prediction, second prediction): all that two runs say together.

Any statistic of two confusion matrices over the same samples is a function of these counts, so
resampling samples means resampling the triples that occur. Two thresholds on one score give
such counts without any pairing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.scores.operating_points import OperatingPoints

CHUNK = 262_144
LARGEST_CUBE = 1 << 22
"""Up to this many possible triples are counted in a full table, more by sorting."""


@dataclass(frozen=True)
class PairedRates:
    """One yes-or-no fact about each sample under both runs, arrays of one shape.

    `only_first` samples have it under the first run alone, `only_second` under the second
    alone, out of `cases`. The share of samples that have it is larger under the second run by
    (only_second - only_first) / samples.
    """

    only_first: NDArray[np.int64]
    only_second: NDArray[np.int64]
    cases: NDArray[np.int64]

    @property
    def agree(self) -> NDArray[np.bool_]:
        """Where no sample has it under one run alone."""
        return np.asarray((self.only_first == 0) & (self.only_second == 0))


@dataclass(frozen=True)
class JointCounts:
    """The triples that occur, in ascending order, and how often.

    `actual`, `first`, `second` are class codes and `counts` is positive, all int64 of shape
    (m,) with m at most K^3 and at most the number of samples.
    """

    actual: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    counts: NDArray[np.int64]
    labels: LabelSet

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @cached_property
    def total(self) -> int:
        """Number of samples, N."""
        return int(self.counts.sum())

    @cached_property
    def first_cells(self) -> NDArray[np.int64]:
        """Where each triple lies in the flattened matrix of the first run, shape (m,)."""
        return self.actual * self.n_classes + self.first

    @cached_property
    def second_cells(self) -> NDArray[np.int64]:
        """Where each triple lies in the flattened matrix of the second run, shape (m,)."""
        return self.actual * self.n_classes + self.second

    @cached_property
    def first_matrix(self) -> ConfusionMatrix:
        return self._matrix(self.first_cells)

    @cached_property
    def second_matrix(self) -> ConfusionMatrix:
        return self._matrix(self.second_cells)

    @cached_property
    def answers(self) -> NDArray[np.int64]:
        """Samples by both predictions, right or wrong, (K, K), the class of the first run first.

        Symmetric where the runs exchange classes equally often in both directions.
        """
        size = self.n_classes
        cells = np.zeros(size * size, np.int64)
        np.add.at(cells, self.first * size + self.second, self.counts)
        return cells.reshape(size, size)

    def swapped(self) -> JointCounts:
        """The same samples with the second run first."""
        order = np.lexsort((self.first, self.second, self.actual))
        return JointCounts(
            self.actual[order],
            self.second[order],
            self.first[order],
            self.counts[order],
            self.labels,
        )

    @cached_property
    def accuracy(self) -> PairedRates:
        """Samples predicted correctly, arrays of shape ()."""
        right_first, right_second = self.first == self.actual, self.second == self.actual
        return PairedRates(
            np.asarray(self.counts[right_first & ~right_second].sum()),
            np.asarray(self.counts[~right_first & right_second].sum()),
            np.asarray(self.total),
        )

    @cached_property
    def hits(self) -> PairedRates:
        """For each class, its samples that were predicted as it, arrays of shape (K,)."""
        right_first, right_second = self.first == self.actual, self.second == self.actual
        return PairedRates(
            self._per_class(self.actual, right_first & ~right_second),
            self._per_class(self.actual, ~right_first & right_second),
            self._per_class(self.actual, np.ones(len(self.counts), np.bool_)),
        )

    @cached_property
    def false_alarms(self) -> PairedRates:
        """For each class, the samples of other classes predicted as it, arrays of shape (K,)."""
        differ = self.first != self.second
        return PairedRates(
            self._per_class(self.first, differ & (self.first != self.actual)),
            self._per_class(self.second, differ & (self.second != self.actual)),
            self.total - self.hits.cases,
        )

    def _matrix(self, cells: NDArray[np.int64]) -> ConfusionMatrix:
        size = self.n_classes
        counts = np.zeros(size * size, np.int64)
        np.add.at(counts, cells, self.counts)
        return ConfusionMatrix(counts.reshape(size, size), self.labels)

    def _per_class(self, codes: NDArray[np.int64], where: NDArray[np.bool_]) -> NDArray[np.int64]:
        sums = np.zeros(self.n_classes, np.int64)
        np.add.at(sums, codes[where], self.counts[where])
        return sums


def joint_counts(
    *,
    actual: NDArray[Any],
    first: NDArray[Any],
    second: NDArray[Any],
    labels: LabelSet,
    counts: NDArray[np.int64] | None = None,
) -> JointCounts:
    """Count the triples of three arrays of class codes, each of shape (n,).

    With `counts` (n,) each place stands for that many samples, otherwise for one. Raises
    `InvalidInput` for unequal lengths and for codes outside the label set.
    """
    size = len(labels)
    arrays = {"actual": actual, "first": first, "second": second}
    for field, codes in arrays.items():
        _require_codes(codes, field, n_samples=len(actual), n_classes=size)
    if counts is not None:
        triples = _triple_codes(actual, first, second, size)
        found, places = np.unique(triples, return_inverse=True)
        sums = np.zeros(len(found), np.int64)
        np.add.at(sums, places.reshape(-1), counts)
    elif size**3 <= LARGEST_CUBE:
        cube = np.zeros(size**3, np.int64)
        for start in range(0, len(actual), CHUNK):
            part = slice(start, start + CHUNK)
            triples = _triple_codes(actual[part], first[part], second[part], size)
            cube += np.bincount(triples, minlength=size**3)
        found = np.flatnonzero(cube)
        sums = cube[found]
    else:
        found, sums = np.unique(_triple_codes(actual, first, second, size), return_counts=True)
    pairs, codes_second = np.divmod(found, size)
    codes_actual, codes_first = np.divmod(pairs, size)
    return JointCounts(
        codes_actual, codes_first, codes_second, sums.astype(np.int64, copy=False), labels
    )


def _triple_codes(
    actual: NDArray[Any], first: NDArray[Any], second: NDArray[Any], size: int
) -> NDArray[np.int64]:
    codes = actual.astype(np.int64)
    for following in (first, second):
        codes *= size
        codes += following
    return codes


def _require_codes(codes: NDArray[Any], field: str, *, n_samples: int, n_classes: int) -> None:
    if codes.shape != (n_samples,) or codes.dtype.kind not in "iu":
        raise InvalidInput(
            f"{codes.dtype} codes of shape {codes.shape} for {n_samples} samples.",
            field=field,
            hint="Give one whole-number class code for each sample.",
        )
    if n_samples and not 0 <= int(codes.min()) <= int(codes.max()) < n_classes:
        raise InvalidInput(
            f"codes range from {codes.min()} to {codes.max()}.",
            field=field,
            hint=f"Codes run from 0 to {n_classes - 1}.",
        )


TRIPLE_AXIS = 1
"""Axis of draws of shape (b, m) along which the triple changes."""


@dataclass(frozen=True)
class CellSums:
    """The order of m triples by cell, and where each cell starts, for adding up draws."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    cells: NDArray[np.int64]
    n_classes: int

    def matrices(self, draws: NDArray[np.int64]) -> NDArray[np.int64]:
        """Stack (b, K, K) of the matrices of b draws of the m triples, shape (b, m)."""
        stack = np.zeros((len(draws), self.n_classes * self.n_classes), np.int64)
        stack[:, self.cells] = np.add.reduceat(draws[:, self.order], self.starts, axis=TRIPLE_AXIS)
        return stack.reshape(len(draws), self.n_classes, self.n_classes)


def cell_sums(cells: NDArray[np.int64], *, n_classes: int) -> CellSums:
    """Prepare sums for triples in the given flattened cells, shape (m,), m at least 1."""
    order = np.argsort(cells, kind="stable")
    distinct, starts = np.unique(cells[order], return_index=True)
    return CellSums(order, starts, distinct, n_classes)


def joint_of_points(
    points: OperatingPoints, first: int, second: int, *, positive: int, labels: LabelSet
) -> JointCounts:
    """The joint counts of two thresholds; the looser one flags all that the stricter one flags.

    `first` and `second` are positions of operating points, for a dataset with two classes.
    """
    negative = 1 - positive
    answers: dict[tuple[int, int, int], int] = {}
    for code, flagged, cases in (
        (positive, points.true_positives, points.n_positive),
        (negative, points.false_positives, points.n_negative),
    ):
        before, after = int(flagged[first]), int(flagged[second])
        answers[code, positive, positive] = min(before, after)
        answers[code, positive, negative] = max(before - after, 0)
        answers[code, negative, positive] = max(after - before, 0)
        answers[code, negative, negative] = cases - max(before, after)
    occurring = sorted(triple for triple, count in answers.items() if count)
    counts = np.array([answers[triple] for triple in occurring], dtype=np.int64)
    actual, first_codes, second_codes = (
        np.array([triple[side] for triple in occurring], dtype=np.int64) for side in range(3)
    )
    return JointCounts(actual, first_codes, second_codes, counts, labels)
