"""Hits that a run may have in a class although it has none among the samples.

Such a run seems not to vary there, and up to 20 % of the intervals of its differences missed the
true one. Without a hit among n samples recall may still be z^2 / (n + z^2), the end of Wilson's
interval, and of Tango's if neither run has any. What so many hits add to a metric is a distance of
its own from the difference, on one side; independent distances add up in squares (Zou and Donner
2008, Stat. Med. 27, 1693).

All classes without a hit are one count of zero: so few hits are missing in all of them together.
They count in the one class in which they are worth most, so many classes do not add up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.gradients import Cells, Floats, Gradient
from offdiag.metrics.intervals.delta import SidedErrors, class_gradients
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.paired import proportions

Z = normal_quantile(0.95)
KIND_AXIS = 0
"""Axis along which the classes of an aggregate lie, or hits and rejections of a class."""

Pair = tuple[Cells, Cells]
Sizes = NDArray[np.int64]


def with_unseen_hits(
    errors: Mapping[str, SidedErrors],
    matrices: Pair,
    own: tuple[Mapping[str, Gradient], Mapping[str, Gradient]],
    sizes: tuple[Sizes, Sizes],
) -> dict[str, SidedErrors]:
    """The errors of differences of aggregates, shape (), joined with those of unseen hits.

    `own` are the gradients at the matrix of each run, `sizes` (K,) its samples of each class.
    Shares of right predictions stay as they are: of all classes together some hits are seen.
    """
    first, second = (_of_hits(*run) for run in zip(matrices, own, sizes, strict=True))
    return {
        key: each.joined(_sided(first[key], second[key])) if key in first else each
        for key, each in errors.items()
    }


def unseen_between_runs(
    matrices: Sequence[Cells], own: Sequence[Mapping[str, Gradient]], sizes: Sizes
) -> Floats:
    """Errors of unseen hits for all differences of m runs, on the side where they are larger.

    Shape (Q, m, m), in the order of the keys of `own`, the gradients at the matrix of each run.
    """
    worths = [_of_hits(*run, sizes) for run in zip(matrices, own, strict=True)]
    found = np.zeros((len(own[0]), len(matrices), len(matrices)))
    for at, key in enumerate(own[0]):
        if key in worths[0]:
            moves = [_rise_and_fall(worth[key]) for worth in worths]
            rises, falls = map(np.array, zip(*moves, strict=True))
            below, above = np.hypot.outer(falls, rises), np.hypot.outer(rises, falls)
            found[at] = np.maximum(below, above)
    return found


def unseen_of_classes(matrices: Pair, key: str, sizes: Sizes) -> SidedErrors:
    """How far unseen hits move the difference of a metric of each class, as errors (K,).

    What is a hit in one of two classes is a correct rejection in the other.
    """
    return _sided(*(_of_outcomes(matrix, key, sizes) for matrix in matrices))


def _sided(first: Floats, second: Floats) -> SidedErrors:
    (rise, fall), (later_rise, later_fall) = map(_rise_and_fall, (first, second))
    return SidedErrors(np.hypot(rise, later_fall), np.hypot(fall, later_rise))


def _rise_and_fall(worth: Floats) -> tuple[Floats, Floats]:
    return worth.max(axis=KIND_AXIS, initial=0.0), -worth.min(axis=KIND_AXIS, initial=0.0)


def _of_hits(matrix: Cells, own: Mapping[str, Gradient], sizes: Sizes) -> dict[str, Floats]:
    """What unseen hits add to aggregates, for each of the c classes without a hit, (c,) each."""
    codes = np.flatnonzero(_has_no_hit(matrix))
    at, predicted = np.nonzero(matrix.counts[codes])
    actual = codes[at]
    answers = matrix.counts[actual, predicted] / matrix.actual[actual]
    shares = matrix.actual[codes] / matrix.total
    found = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for key, gradient in own.items():
            if key not in proportions.AGGREGATE:
                wrong = np.bincount(at, answers * gradient.at(actual, predicted), len(codes))
                found[key] = _worth(gradient.at(codes, codes) - wrong, shares, sizes[codes])
    return found


def _of_outcomes(matrix: Cells, key: str, sizes: Sizes) -> Floats:
    """The same for a metric of each class by its hits, of two also by rejections, (1 or 2, K)."""
    has_none, shares = _has_no_hit(matrix), matrix.actual / matrix.total
    if not has_none.any():
        return np.zeros((1, matrix.n_classes))
    with np.errstate(divide="ignore", invalid="ignore"):
        hit, missed, alarm, rejected = class_gradients(matrix, (key,))[key].slope
        of_hits = np.where(has_none, _worth(hit - missed, shares, sizes), 0.0)
        if matrix.n_classes != 2:
            return of_hits[np.newaxis]
        of_others = np.where(has_none, _worth((rejected - alarm)[::-1], shares, sizes), 0.0)
    return np.stack([of_hits, of_others[::-1]])


def _has_no_hit(matrix: Cells) -> NDArray[np.bool_]:
    return np.asarray((matrix.actual > 0) & (np.diagonal(matrix.counts) == 0))


def _worth(gained: Floats, shares: Floats, sizes: Sizes) -> Floats:
    """What is gained by the unseen hits of classes that are these shares of all samples.

    0 where a metric has no slope.
    """
    return np.where(np.isfinite(gained), gained * shares * Z / (sizes + Z**2), 0.0)
