"""A metric across several groups: lowest value, largest difference and smallest ratio.

Which group is lowest is only seen in the data, so the interval for that group alone would promise
too much on one side and too little on neither. With alpha = 1 - confidence, an end that says "it
is at least this bad" uses Bonferroni's share of alpha over all statements from which it was
chosen; the other end, "every group is at least this good", uses alpha undivided: it is wrong only
if the interval of the truly worst group is (intersection-union test, Berger 1982, Technometrics
24, 295).

If the metric is a proportion, the chosen end comes from its exact interval. Close to 0 and 1 one
end of Wilson's fails far more often than its share, and the most extreme of many groups is where
that happens: of ten equal groups of 200 with a recall of 0.99, one would be called worse in 14 %
of samples.

Groups have different samples, so differences and ratios combine the ends of two intervals by
square-and-add: Zou and Donner (2008), Stat. Med. 27, 1693, of which Newcombe's interval for two
proportions is the case of Wilson ends, and Donner and Zou (2012), Stat. Methods Med. Res. 21, 347.

Slices are groups for which only the margins are known. Averages over classes have no interval
there, because that would need the whole matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Unweighted
from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.intervals.draws import INTERVAL_SEED
from offdiag.metrics.intervals.proportions import (
    AGGREGATE,
    PER_CLASS,
    WILSON,
    Outcomes,
    clopper_pearson,
    proportion_intervals,
    wilson,
)
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.multilabel.suite import label_metrics
from offdiag.metrics.paired.class_changes import confidence_together
from offdiag.metrics.slices.counts import NUMBER_AXIS
from offdiag.metrics.slices.finder import ACCURACY, SUBSET_ACCURACY
from offdiag.metrics.slices.gaps import SLOPES, Margins
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, labelled_suite

METHOD = "square-and-add over all groups"
METHOD_WORST = "all groups together"

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupValues:
    """A metric of G groups with no sample in common: values (G,), NaN where undefined.

    `bounds` returns the ends of the intervals (G,) for a confidence, `exact` ends that hold at
    least as often as stated; None if there are no exact ones.
    """

    values: Floats
    bounds: Callable[[float], Bounds]
    exact: Callable[[float], Bounds] | None = None

    def chosen(self, confidence: float) -> Bounds:
        """The ends to use if the group is chosen for its value."""
        return (self.exact or self.bounds)(confidence)


def worst(
    groups: GroupValues, *, is_highest: bool = False, confidence: float = 0.95
) -> MetricValue:
    """The lowest value of the groups, or the highest one, with its interval.

    Undefined without a group, or if the value of any group is undefined.
    """
    undefined = _undefined(groups.values, fewest=1)
    if undefined is not None:
        return undefined
    alone = groups.bounds(confidence)
    chosen = groups.chosen(confidence_together(confidence, len(groups.values)))
    if is_highest:
        value, low, high = groups.values.max(), chosen.low.max(), alone.high.max()
    else:
        value, low, high = groups.values.min(), alone.low.min(), chosen.high.min()
    return _value(value, low, high, METHOD_WORST)


def largest_difference(
    groups: GroupValues, *, n_families: int = 1, confidence: float = 0.95
) -> MetricValue:
    """The highest value minus the lowest, at least 0.

    `n_families` is the number of metrics from which this difference may still be chosen.
    Undefined for fewer than two groups, or if the value of any group is undefined.
    """
    undefined = _undefined(groups.values, fewest=2)
    if undefined is not None:
        return undefined
    values = groups.values
    alone, chosen = _levels(groups, n_families, confidence)
    difference = values[:, None] - values[None, :]
    low = difference - np.hypot((values - chosen.low)[:, None], (chosen.high - values)[None, :])
    high = difference + np.hypot((alone.high - values)[:, None], (values - alone.low)[None, :])
    pairs = ~np.eye(len(values), dtype=np.bool_)
    # NaN is kept: 0 would be an end for a group that has no interval.
    lowest = np.maximum(0.0, low[pairs].max())
    return _value(values.max() - values.min(), lowest, high[pairs].max(), METHOD)


def smallest_ratio(
    groups: GroupValues, *, n_families: int = 1, confidence: float = 0.95
) -> MetricValue:
    """The lowest value divided by the highest, in [0, 1], for values that are never negative.

    Undefined in the same cases as `largest_difference`, and if all values are 0.
    """
    undefined = _undefined(groups.values, fewest=2)
    if undefined is not None:
        return undefined
    values = groups.values
    if not values.max() > 0:
        return MetricValue(None, Reason.ZERO_OVER_ZERO.value)
    alone, chosen = _levels(groups, n_families, confidence)
    low, _ = _ratio_ends(values, alone)
    _, high = _ratio_ends(values, chosen)
    pairs = ~np.eye(len(values), dtype=np.bool_)
    ratio = values.min() / values.max()
    return _value(
        ratio, min(ratio, low[pairs].min()), max(ratio, min(1.0, high[pairs].min())), METHOD
    )


def worst_of(differences: Sequence[MetricValue], *, is_highest: bool) -> MetricValue:
    """The largest of several differences, or the smallest of several ratios, end by end."""
    undefined = next((each for each in differences if each.value is None), None)
    if undefined is not None:
        return undefined
    pick = max if is_highest else min
    value, low, high = (
        pick(end for end in ends if end is not None)
        for ends in zip(
            *((each.value, each.ci_low, each.ci_high) for each in differences), strict=True
        )
    )
    return MetricValue(value, ci_low=low, ci_high=high, ci_method=METHOD)


def _levels(groups: GroupValues, n_families: int, confidence: float) -> tuple[Bounds, Bounds]:
    n_groups = len(groups.values)
    n_statements = n_families * n_groups * (n_groups - 1) // 2
    return groups.bounds(confidence), groups.chosen(confidence_together(confidence, n_statements))


def _ratio_ends(values: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    """Ends (G, G) of the row's value divided by the column's (Donner and Zou 2012, eq. 9)."""
    product = values[:, None] * values[None, :]
    above_low = (bounds.low * (2 * values - bounds.low))[:, None]
    above_high = (bounds.high * (2 * values - bounds.high))[:, None]
    below_low = (bounds.low * (2 * values - bounds.low))[None, :]
    below_high = (bounds.high * (2 * values - bounds.high))[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Each end is written so that it does not cancel and has a limit where a value is 0.
        low = above_low / (product + np.sqrt(np.maximum(product**2 - above_low * below_high, 0)))
        high = (product + np.sqrt(np.maximum(product**2 - above_high * below_low, 0))) / below_low
    return np.where(above_low > 0, low, 0.0), np.where(below_low > 0, high, np.inf)


def _undefined(values: Floats, *, fewest: int) -> MetricValue | None:
    if len(values) < fewest:
        return MetricValue(None, Reason.TOO_FEW_GROUPS.value)
    if np.isnan(values).any():
        return MetricValue(None, Reason.GROUP_VALUE_UNDEFINED.value)
    return None


def _value(value: float, low: float, high: float, method: str) -> MetricValue:
    has_low, has_high = bool(np.isfinite(low)), bool(np.isfinite(high))
    return MetricValue(
        float(value),
        ci_low=float(low) if has_low else None,
        ci_high=float(high) if has_high else None,
        ci_method=method if has_low or has_high else None,
    )


OF_A_CLASS = frozenset({"recall", "precision", "f1", "support"})
OF_ALL = frozenset({ACCURACY, SUBSET_ACCURACY, *SLOPES})
"""Metrics of a whole slice that follow from its margins."""
_OF_SETS = frozenset({SUBSET_ACCURACY, "macro_f1"})


def is_of_slices(key: str, *, of_sets: bool) -> bool:
    """Whether slices with one label per sample, or with label sets, have an overall metric."""
    return key in (_OF_SETS if of_sets else OF_ALL - {SUBSET_ACCURACY})


def slice_value(
    numbers: NDArray[Any], key: str, code: int | None, *, of_sets: bool
) -> MetricValue:
    """A metric of one slice, from its numbers (2 + 3 K,), described in `SliceCounts`.

    `code` is the class of a per-class metric. Undefined if there is nothing to divide by.
    """
    groups = _groups(numbers[np.newaxis], key, code, of_sets=of_sets)
    (value,), ends = groups.values.tolist(), groups.bounds(0.95)
    if np.isnan(value):
        return MetricValue(None, Reason.ZERO_OVER_ZERO.value)
    low, high = float(ends.low[0]), float(ends.high[0])
    if np.isnan(low):
        return MetricValue(value)
    return MetricValue(value, None, None, low, high, WILSON)


def over_slices(
    numbers: NDArray[Any],
    key: str,
    code: int | None,
    *,
    of_sets: bool,
    min_size: int,
    is_gap: bool,
) -> MetricValue:
    """The lowest value of S slices (S, 2 + 3 K) of one column, or the gap between them.

    Slices with fewer than `min_size` samples, or samples of the class, are ignored. Ends are those
    used in a gate; averages over classes have none.
    """
    sizes = numbers[:, 0] if code is None else numbers[:, 2 + code]
    groups = _groups(numbers[sizes >= min_size], key, code, of_sets=of_sets)
    found = largest_difference(groups) if is_gap else worst(groups)
    has_ends = key not in SLOPES and key != "support"
    return found if has_ends or found.value is None else MetricValue(found.value)


def _groups(numbers: NDArray[Any], key: str, code: int | None, *, of_sets: bool) -> GroupValues:
    found = numbers.astype(np.float64)
    n_classes = (found.shape[NUMBER_AXIS] - 2) // 3
    actual, predicted, correct = (
        found[:, 2 + part * n_classes : 2 + (part + 1) * n_classes] for part in range(3)
    )
    if key in SLOPES:
        # Averages over labels include all labels, those over classes the classes that occur.
        average = "macro_f1_all_labels" if of_sets else key
        return _without_ends(Margins(actual, predicted, correct).values(average))
    if code is None:
        return proportion_values(found[:, 1], found[:, 0])
    if key == "support":
        return _without_ends(actual[:, code])
    if key == "f1":
        union = actual[:, code] + predicted[:, code] - correct[:, code]
        jaccard = proportion_values(correct[:, code], union)
        return GroupValues(
            _dice(jaccard.values),
            lambda confidence: _dice_ends(jaccard.bounds(confidence)),
            lambda confidence: _dice_ends(jaccard.chosen(confidence)),
        )
    return proportion_values(correct[:, code], (actual if key == "recall" else predicted)[:, code])


def _dice_ends(ends: Bounds) -> Bounds:
    return Bounds(_dice(ends.low), _dice(ends.high))


def _dice(jaccard: Floats) -> Floats:
    return 2 * jaccard / (1 + jaccard)


def proportion_values(hits: NDArray[Any], cases: NDArray[Any]) -> GroupValues:
    """The share of hits among the samples of each group, both (G,); NaN without samples."""
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(cases > 0, hits / cases, np.nan)
    return GroupValues(
        values,
        lambda confidence: wilson(hits, cases, confidence=confidence),
        lambda confidence: clopper_pearson(hits, cases, confidence=confidence),
    )


def _without_ends(values: Floats) -> GroupValues:
    nothing = np.full(values.shape, np.nan)
    return GroupValues(values, lambda _: Bounds(nothing, nothing))


MOST_DRAWN = 50
"""Groups up to which intervals are drawn; with more, only proportions have intervals."""


def group_values(groups: Sequence[Unweighted], key: str, code: int | None) -> GroupValues:
    """The metric `key` of each group, for the class `code` or for the whole matrix.

    Raises `InvalidInput` for a metric that is not computed from the matrix, such as one of
    scores, and for a metric of whole sets of labels.
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
    values = np.array([_value_in(group, key, index) for group in groups])

    is_proportion = key in (PER_CLASS if of_class else AGGREGATE)

    def bounds(confidence: float, *, is_exact: bool = False) -> Bounds:
        if len(groups) > MOST_DRAWN and not is_proportion:
            return Bounds(np.full(len(groups), np.nan), np.full(len(groups), np.nan))
        ends = [
            _ends(group, key, index, confidence=confidence, is_exact=is_exact) for group in groups
        ]
        table = np.array(ends, dtype=np.float64).reshape(len(groups), 2)
        return Bounds(table[:, 0], table[:, 1])

    return GroupValues(values, bounds, partial(bounds, is_exact=True) if is_proportion else None)


def group_sizes(groups: Sequence[Unweighted], code: int | None) -> NDArray[np.int64]:
    """Labelled samples of each group, shape (G,), of the class `code` only if one is given."""
    sizes = [group.total if code is None else group.actual[code] for group in groups]
    return np.array(sizes, dtype=np.int64)


def outcomes_of(group: Unweighted) -> Outcomes:
    """Correct, actual and predicted samples of each class, or of each label."""
    if isinstance(group, ConfusionMatrix):
        return Outcomes.of_matrix(group)
    return Outcomes(group.correct, group.actual, group.predicted, group.total)


def _value_in(group: Unweighted, key: str, index: tuple[int, ...]) -> float:
    if isinstance(group, ConfusionMatrix):
        suite = labelled_suite(group.counts, group.labels)
        quantity = suite.per_class[key] if index else suite.aggregate[key]
        return float(quantity.at(*index))
    return float(label_metrics(group.tally.labels)[key][index[0]])


def _ends(
    group: Unweighted,
    key: str,
    index: tuple[int, ...],
    *,
    confidence: float,
    is_exact: bool,
) -> tuple[float, float]:
    proportions = PER_CLASS if index else AGGREGATE
    if key in proportions:
        one = {key: proportions[key]}
        found = proportion_intervals(
            outcomes_of(group), one, confidence=confidence, is_exact=is_exact
        )
    elif isinstance(group, ConfusionMatrix):
        intervals = suite_intervals(group, seed=INTERVAL_SEED, confidence=confidence)
        found = dict(intervals.per_class if index else intervals.aggregate)
    else:
        found = {}
    if key not in found:
        return np.nan, np.nan
    bounds = found[key].bounds
    return float(bounds.low[index]), float(bounds.high[index])
