"""A metric of the confusion matrix in several groups of samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Unweighted
from offdiag.metrics.groups.gaps import GroupValues
from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.intervals.proportions import (
    AGGREGATE,
    PER_CLASS,
    Outcomes,
    proportion_intervals,
)
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.multilabel.suite import label_metrics
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, evaluate_stack

MOST_RESAMPLED = 50
"""Groups up to which intervals are resampled; with more, only proportions have any."""


def group_values(
    groups: Sequence[Unweighted], key: str, code: int | None, *, seed: int
) -> GroupValues:
    """The metric `key` of each group: of the class `code`, or of the whole matrix.

    Raises `InvalidInput` for a metric that is not of the matrix, such as one of scores, and for
    a metric of whole sets of labels.
    """
    of_class = code is not None
    known = PER_CLASS_KEYS if of_class else AGGREGATE_KEYS
    of_sets = any(not isinstance(group, ConfusionMatrix) for group in groups)
    if key not in known or (of_sets and not of_class):
        raise InvalidInput(
            f"{key!r} is not counted by group.",
            field="condition",
            hint="Use a metric of the confusion matrix, or one slice: metric@column=value.",
        )
    index = () if code is None else (code,)
    values = np.array([_value(group, key, index) for group in groups])

    def bounds(confidence: float) -> Bounds:
        if len(groups) > MOST_RESAMPLED and key not in (PER_CLASS if of_class else AGGREGATE):
            return Bounds(np.full(len(groups), np.nan), np.full(len(groups), np.nan))
        ends = [_ends(group, key, index, confidence=confidence, seed=seed) for group in groups]
        table = np.array(ends, dtype=np.float64).reshape(len(groups), 2)
        return Bounds(table[:, 0], table[:, 1])

    return GroupValues(values, bounds)


def group_sizes(groups: Sequence[Unweighted], code: int | None) -> NDArray[np.int64]:
    """Labelled samples of each group, of the class `code` alone if it is given, shape (G,)."""
    sizes = [group.total if code is None else group.actual[code] for group in groups]
    return np.array(sizes, dtype=np.int64)


def outcomes_of(group: Unweighted) -> Outcomes:
    """Right, actual and predicted samples of each class, or of each label."""
    if isinstance(group, ConfusionMatrix):
        return Outcomes.of_matrix(group)
    return Outcomes(group.correct, group.actual, group.predicted, group.total)


def _value(group: Unweighted, key: str, index: tuple[int, ...]) -> float:
    if isinstance(group, ConfusionMatrix):
        suite = evaluate_stack(
            group.counts, ordinal=group.labels.has_declared_order, names=group.labels.names
        )
        quantity = suite.per_class[key] if index else suite.aggregate[key]
        return float(quantity.at(*index))
    return float(label_metrics(group.tally.labels)[key][index[0]])


def _ends(
    group: Unweighted, key: str, index: tuple[int, ...], *, confidence: float, seed: int
) -> tuple[float, float]:
    proportions = PER_CLASS if index else AGGREGATE
    if key in proportions:
        one = {key: proportions[key]}
        found = proportion_intervals(outcomes_of(group), one, confidence=confidence)
    elif isinstance(group, ConfusionMatrix):
        intervals = suite_intervals(group, seed=seed, confidence=confidence)
        found = dict(intervals.per_class if index else intervals.aggregate)
    else:
        found = {}
    if key not in found:
        return np.nan, np.nan
    bounds = found[key].bounds
    return float(bounds.low[index]), float(bounds.high[index])
