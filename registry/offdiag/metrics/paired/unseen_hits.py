"""Hits that a run may have in a class although the samples show none.

A run without a hit seems not to vary there, and two runs with the same hits seem not to differ:
up to 20 and 70 % of the intervals of differences missed the true one. Without a hit among n
samples recall may still be z^2 / (n + z^2), the end of Wilson's interval, and without a hit that
the other run lacks it may differ by as much, the end of Tango's (1998, Stat. Med. 17, 891). What
so many hits add to a metric is a distance of its own from the difference, on one side; independent
distances add up in squares (Zou and Donner 2008, Stat. Med. 27, 1693).

All such classes are one count of zero: so few hits are missing in all of them together. They count
in the one class in which they are worth most, so many classes do not add up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.gradients import Cells, Floats, Gradient
from offdiag.metrics.intervals.delta import SidedErrors, class_gradients
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.orientation import PREDICTED_AXIS
from offdiag.metrics.paired import proportions

Z = normal_quantile(0.95)
KIND_AXIS = 0
"""Axis along which the classes of an aggregate lie, or hits and rejections of a class."""
BESIDE_AXIS = -1
"""Axis of open classes (K, m) along which the other run changes."""

Pair = tuple[Cells, Cells]
Sizes = NDArray[np.int64]
Flags = NDArray[np.bool_]


def with_unseen_hits(
    errors: Mapping[str, SidedErrors],
    matrices: Pair,
    own: tuple[Mapping[str, Gradient], Mapping[str, Gradient]],
    sizes: tuple[Sizes, Sizes],
    agree: Flags | None,
) -> dict[str, SidedErrors]:
    """The errors of differences of aggregates, shape (), joined with those of unseen hits.

    `own` are the gradients at the matrix of each run, `sizes` (K,) its samples of each class;
    `agree` (K,) are the classes in which both runs have the same hits. Runs on different samples
    have none, and seem not to vary where they are all right: as many misses may be unseen there.
    Shares of right predictions stay as they are: of all classes together some hits are seen.
    """
    first, second = (
        _of_hits(matrix, gradients, size, _sides(matrix, agree))
        for matrix, gradients, size in zip(matrices, own, sizes, strict=True)
    )
    return {
        key: each.joined(sided(first[key], second[key])) if key in first else each
        for key, each in errors.items()
    }


def unseen_between_runs(
    matrices: Sequence[Cells],
    own: Sequence[Mapping[str, Gradient]],
    both_right: NDArray[np.int64],
) -> Floats:
    """Errors of unseen hits for all differences of m runs, on the side where they are larger.

    Shape (Q, m, m), in the order of the keys of `own`, the gradients at the matrix of each run.
    `both_right` (K, m, m) are the samples of each class that two runs both predict correctly.
    """
    sizes, n_runs = matrices[0].actual, len(matrices)
    worths = np.zeros((len(own[0]), n_runs, len(sizes)))
    is_open = open_classes(both_right, sizes)
    for run, (matrix, gradients) in enumerate(zip(matrices, own, strict=True)):
        codes = is_open[run].any(axis=BESIDE_AXIS)
        found = _of_hits(matrix, gradients, sizes, codes.astype(np.int64))
        for at, key in enumerate(own[0]):
            if key in found:
                worths[at, run, codes] = found[key]
    return np.stack([larger_sides(worth, is_open) for worth in worths])


def open_classes(both_right: NDArray[np.int64], sizes: Sizes) -> Flags:
    """In which classes each run has no hit, or the same hits as another one, (m, K, m)."""
    hits = np.diagonal(both_right, axis1=1, axis2=2)
    n_runs = hits.shape[BESIDE_AXIS]
    found = []
    for run in range(n_runs):
        own, shared = hits[:, [run]], both_right[:, run]
        has_the_same = (shared == own) & (shared == hits) & (np.arange(n_runs) != run)
        found.append((has_the_same | (own == 0)) & (sizes > 0)[:, np.newaxis])
    return np.stack(found)


def larger_sides(worth: Floats, is_open: Flags) -> Floats:
    """Errors (m, m) from what unseen hits of each class are worth to each run, (m, K)."""
    moves = [
        _rise_and_fall(np.where(beside, each[:, np.newaxis], 0.0))
        for each, beside in zip(worth, is_open, strict=True)
    ]
    rises, falls = map(np.array, zip(*moves, strict=True))
    found = np.zeros(rises.shape)
    for run, (rise, fall) in enumerate(zip(rises, falls, strict=True)):
        found[run] = np.maximum(np.hypot(fall, rises[:, run]), np.hypot(rise, falls[:, run]))
    return found


def unseen_of_classes(matrices: Pair, key: str, sizes: Sizes) -> SidedErrors:
    """How far unseen hits move the difference of a metric of each class, as errors (K,).

    What is a hit in one of two classes is a correct rejection in the other.
    """
    return sided(*(_of_outcomes(matrix, key, sizes) for matrix in matrices))


def sided(first: Floats, second: Floats) -> SidedErrors:
    """Errors of a difference from what unseen hits are worth to each run, classes along axis 0."""
    (rise, fall), (later_rise, later_fall) = map(_rise_and_fall, (first, second))
    return SidedErrors(np.hypot(rise, later_fall), np.hypot(fall, later_rise))


def _rise_and_fall(worth: Floats) -> tuple[Floats, Floats]:
    return worth.max(axis=KIND_AXIS, initial=0.0), -worth.min(axis=KIND_AXIS, initial=0.0)


def _of_hits(
    matrix: Cells, own: Mapping[str, Gradient], sizes: Sizes, sides: NDArray[np.int64]
) -> dict[str, Floats]:
    """What unseen hits add to aggregates, for each of the c classes that are open, (c,) each.

    `sides` (K,) are 1 for these classes, -1 where it is as many misses, and 0 for others.
    """
    codes = np.flatnonzero(sides)
    wrong = matrix.counts[codes].astype(np.float64)
    wrong[np.arange(len(codes)), codes] = 0.0
    all_right = np.flatnonzero(wrong.sum(axis=PREDICTED_AXIS) == 0)
    wrong[all_right, _most_predicted_other(matrix, codes[all_right])] = 1.0
    at, predicted = np.nonzero(wrong)
    actual = codes[at]
    answers = wrong[at, predicted] / wrong.sum(axis=PREDICTED_AXIS)[at]
    shares = matrix.actual[codes] / matrix.total
    found = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for key, gradient in own.items():
            if key not in proportions.AGGREGATE:
                missed = np.bincount(at, answers * gradient.at(actual, predicted), len(codes))
                gained = sides[codes] * (gradient.at(codes, codes) - missed)
                found[key] = worth_of_hits(gained, shares, sizes[codes])
    return found


def _sides(matrix: Cells, agree: Flags | None) -> NDArray[np.int64]:
    """Whether hits, 1, or misses, -1, of each class (K,) may be unseen."""
    has_samples, no_hit = matrix.actual > 0, _has_no_hit(matrix)
    if agree is None:
        all_right = has_samples & (np.diagonal(matrix.counts) == matrix.actual)
        return np.asarray(no_hit.astype(np.int64) - all_right)
    return np.asarray(no_hit | (agree & has_samples), np.int64)


def _most_predicted_other(matrix: Cells, codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The class that a run predicts most, for each of some classes other than it."""
    ascending: NDArray[np.intp] = np.argsort(matrix.predicted, kind="stable")
    return np.asarray(np.where(codes == ascending[-1], ascending[-2:][0], ascending[-1]))


def _of_outcomes(matrix: Cells, key: str, sizes: Sizes) -> Floats:
    """The same for a metric of each class by its hits, of two also by rejections, (1 or 2, K)."""
    has_none, shares = _has_no_hit(matrix), matrix.actual / matrix.total
    if not has_none.any():
        return np.zeros((1, matrix.n_classes))
    with np.errstate(divide="ignore", invalid="ignore"):
        hit, missed, alarm, rejected = class_gradients(matrix, (key,))[key].slope
        of_hits = np.where(has_none, worth_of_hits(hit - missed, shares, sizes), 0.0)
        if matrix.n_classes != 2:
            return of_hits[np.newaxis]
        of_others = np.where(has_none, worth_of_hits((rejected - alarm)[::-1], shares, sizes), 0.0)
    return np.stack([of_hits, of_others[::-1]])


def _has_no_hit(matrix: Cells) -> NDArray[np.bool_]:
    return np.asarray((matrix.actual > 0) & (np.diagonal(matrix.counts) == 0))


def worth_of_hits(gained: Floats, shares: Floats, sizes: Sizes) -> Floats:
    """What is gained by the unseen hits of classes that are these shares of all samples.

    As standard errors, 0 where a metric has no slope.
    """
    return np.where(np.isfinite(gained), gained * shares * Z / (sizes + Z**2), 0.0)
