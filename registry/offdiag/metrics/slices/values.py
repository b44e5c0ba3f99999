"""Metrics of slices as their margins have them, with the intervals of the suite for proportions.

Averages over classes have no interval here: theirs needs the whole matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.groups.gaps import GroupValues, largest_difference, worst
from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.intervals.proportions import WILSON, wilson
from offdiag.metrics.slices.counts import NUMBER_AXIS
from offdiag.metrics.slices.finder import ACCURACY, SUBSET_ACCURACY
from offdiag.metrics.slices.gaps import SLOPES, Floats, Margins

OF_A_CLASS = frozenset({"recall", "precision", "f1", "support"})
OF_ALL = frozenset({ACCURACY, SUBSET_ACCURACY, *SLOPES})
"""Metrics that slices have by their margins alone."""


def slice_value(numbers: NDArray[Any], key: str, code: int | None) -> MetricValue:
    """A metric of one slice, from its numbers (2 + 3 K,), which `SliceCounts` describes.

    `code` is the class of a metric of one. Undefined where there is nothing to divide by.
    """
    groups = _groups(numbers[np.newaxis], key, code)
    (value,), ends = groups.values.tolist(), groups.bounds(0.95)
    if np.isnan(value):
        return MetricValue(None, Reason.ZERO_OVER_ZERO.value)
    low, high = float(ends.low[0]), float(ends.high[0])
    if np.isnan(low):
        return MetricValue(value)
    return MetricValue(value, None, None, low, high, WILSON)


def over_slices(
    numbers: NDArray[Any], key: str, code: int | None, *, min_size: int, is_gap: bool
) -> MetricValue:
    """The lowest value of S slices (S, 2 + 3 K) of one column, or the gap between them.

    Slices of fewer than `min_size` samples, or of the class, decide nothing. Ends are those of a
    gate; averages over classes have none.
    """
    sizes = numbers[:, 0] if code is None else numbers[:, 2 + code]
    groups = _groups(numbers[sizes >= min_size], key, code)
    found = largest_difference(groups) if is_gap else worst(groups)
    has_ends = key not in SLOPES and key != "support"
    return found if has_ends or found.value is None else MetricValue(found.value)


def _groups(numbers: NDArray[Any], key: str, code: int | None) -> GroupValues:
    found = numbers.astype(np.float64)
    n_classes = (found.shape[NUMBER_AXIS] - 2) // 3
    actual, predicted, correct = (
        found[:, 2 + part * n_classes : 2 + (part + 1) * n_classes] for part in range(3)
    )
    if key in SLOPES:
        return _without_ends(Margins(actual, predicted, correct).values(key))
    if code is None:
        return _proportion(found[:, 1], found[:, 0])
    if key == "support":
        return _without_ends(actual[:, code])
    if key == "f1":
        union = actual[:, code] + predicted[:, code] - correct[:, code]
        jaccard = _proportion(correct[:, code], union)
        return GroupValues(
            _dice(jaccard.values),
            lambda confidence: Bounds(*map(_dice, _both(jaccard.bounds(confidence)))),
        )
    return _proportion(correct[:, code], (actual if key == "recall" else predicted)[:, code])


def _both(ends: Bounds) -> tuple[Floats, Floats]:
    return ends.low, ends.high


def _dice(jaccard: Floats) -> Floats:
    return 2 * jaccard / (1 + jaccard)


def _proportion(hits: Floats, cases: Floats) -> GroupValues:
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(cases > 0, hits / cases, np.nan)
    return GroupValues(values, lambda confidence: wilson(hits, cases, confidence=confidence))


def _without_ends(values: Floats) -> GroupValues:
    nothing = np.full(values.shape, np.nan)
    return GroupValues(values, lambda _: Bounds(nothing, nothing))
