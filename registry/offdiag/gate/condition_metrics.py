"""The metric of a condition: found by its name, with its value, also over groups of a column."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import isnan

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.sentences import known_names
from offdiag.domain.slices import column_text
from offdiag.domain.suggestions import did_you_mean
from offdiag.domain.values import MetricValue, Reason
from offdiag.errors import InvalidInput, UnknownKey
from offdiag.filters.conditions import Over
from offdiag.gate.conditions import ColumnGroups, MetricCondition, MetricValues, Subject
from offdiag.metrics.catalogue import CATALOGUE, Direction, Scope
from offdiag.metrics.costs.summary import COST_KEYS
from offdiag.metrics.counted import CountedSets
from offdiag.metrics.groups.gaps import group_sizes, group_values, largest_difference, worst
from offdiag.metrics.metric_text import in_range_hint, range_of_metric
from offdiag.metrics.multilabel.suite import SCORE_KEYS
from offdiag.metrics.names import averages_of, find_metric, nearest_names

# When a run is approved, conditions are checked with what the dataset has.
BASELINE_OF_DATASET = "`offdiag runs baseline RUN` sets that of the dataset."
COSTS_NEEDED = (
    "Give --weights FILE or --cost-matrix NAME. `offdiag cost default DATASET NAME` sets those of "
    "the dataset."
)
_NO_SCORES = MetricValue(None, Reason.NO_SCORES.value)


def value_of(condition: MetricCondition, subject: Subject) -> MetricValue:
    """The value that a resolved condition is about, with its interval if it has one.

    Metrics of scores are undefined for a run without scores. Raises `UnknownKey` for a class
    that does not exist, and `InvalidInput` if a baseline or a cost matrix is needed and was
    not given.
    """
    values = _values(condition, subject)
    key, label = condition.key, condition.class_label
    if label is not None:
        code = class_code(label, subject)
        return values.per_class[key][code] if key in values.per_class else _NO_SCORES
    if key in values.aggregate:
        return values.aggregate[key]
    return _cost(key, values, subject) if key in COST_KEYS else _NO_SCORES


def _values(condition: MetricCondition, subject: Subject) -> MetricValues:
    """The values, or the differences, that a condition is about."""
    if not condition.of_difference:
        return subject.values
    if subject.differences is None:
        raise InvalidInput(
            f"{condition.text!r} compares with a baseline, but there is none, or only this run.",
            field="condition",
            hint=f"Name one with --baseline RUN. {BASELINE_OF_DATASET}",
        )
    return subject.differences.values


def resolved(condition: MetricCondition, subject: Subject) -> MetricCondition:
    """The condition with our key in place of a name of scikit-learn.

    For a name such as `neg_log_loss` the sign, the number and the end of the interval are
    reversed. A metric of one class without a class is that of the positive class, if there is one.

    Raises `UnknownKey` for a metric that does not exist, and `InvalidInput` if a class is
    missing or not allowed, if a baseline is needed and was not given, or for a number outside the
    range of the metric.
    """
    label, name = condition.class_label, condition.key
    values = _values(condition, subject)
    whole = {*values.aggregate, *COST_KEYS, *CATALOGUE[Scope.PROBABILISTIC]}
    found = find_metric(name, whole, n_classes=len(subject.labels)) if label is None else None
    if found is None and (label is not None or subject.positive_label is not None):
        found = find_metric(name, {*values.per_class, *SCORE_KEYS})
        label = label if label is not None else subject.positive_label
    if found is None:
        raise _no_such_metric(condition, values, whole)
    plain = replace(condition, key=found.key, class_label=label)
    _require_in_range(plain, -condition.threshold if found.is_negated else condition.threshold)
    # The gap between negated values is the same.
    if not found.is_negated or condition.over is Over.GAP:
        return plain
    return replace(
        plain,
        sign=condition.sign.reversed,
        threshold=0.0 - condition.threshold,
        side=condition.side.reversed,
    )


def _require_in_range(condition: MetricCondition, threshold: float) -> None:
    """Raise `InvalidInput` for a number that the metric cannot have, as 5 for 5 %.

    Such a condition would always pass or always fail.
    """
    low, high = range_of_metric(condition.key, condition.class_label)
    what = condition.key
    if condition.of_difference or condition.over is Over.GAP:
        low, high = (low - high if condition.of_difference else 0.0), high - low
        what = f"a difference of {what}"
    if low <= threshold <= high:
        return
    raise InvalidInput(
        f"{condition.text!r} does not depend on the run: {what} is in the range {low:g} to "
        f"{high:g}.",
        field="condition",
        hint=in_range_hint(threshold, low, high),
    )


def _no_such_metric(
    condition: MetricCondition, values: MetricValues, whole: Collection[str]
) -> InvalidInput | UnknownKey:
    name, label = condition.key, condition.class_label
    if label is None:
        of_class = find_metric(name, values.per_class)
        if of_class is not None:
            return _class_needed(name, of_class.key, whole)
    elif find_metric(name, whole) is not None:
        return InvalidInput(
            f"{name!r} is a metric of the whole run, not of class {label!r}.",
            field="condition",
            hint=f"Write {name!r} without a class, or use a metric of a class such as 'recall'.",
        )
    known = whole if label is None else values.per_class
    return UnknownKey(
        f"there is no metric {name!r}{'' if label is None else ' of a class'}.",
        field="condition",
        hint=nearest_names(name, known) or "The catalogue of metrics lists all keys.",
    )


def _class_needed(name: str, key: str, whole: Collection[str]) -> InvalidInput:
    averages = averages_of(key, whole)
    or_average = f", or use an average: {', '.join(averages)}" if averages else ""
    return InvalidInput(
        f"{name!r} is a metric of one class.",
        field="condition",
        hint=f"Write {key}[class]{or_average}.",
    )


def _cost(key: str, values: MetricValues, subject: Subject) -> MetricValue:
    if values.costs is None and isinstance(subject.counted, CountedSets):
        raise InvalidInput(
            f"{key!r} needs a cost matrix, and runs with sets of labels have none.",
            field="condition",
            hint="Bound a metric of a label, such as 'recall[label]>=0.8'. `offdiag cost labels` "
            "shows costs of single labels.",
        )
    if values.costs is None:
        raise InvalidInput(
            f"{key!r} needs a cost matrix.",
            field="condition",
            hint=COSTS_NEEDED,
        )
    return values.costs[key]


def class_code(label: str, subject: Subject) -> int:
    """Code of a class. Raises `UnknownKey`, suggesting similar names."""
    try:
        return subject.labels.index[label]
    except KeyError:
        raise UnknownKey(
            f"there is no class {label!r}.",
            field="condition",
            hint=did_you_mean(label, subject.labels.names)
            or known_names("classes", subject.labels.names),
        ) from None


def over_groups(
    condition: MetricCondition, column: ColumnGroups, code: int | None, *, min_size: int
) -> tuple[MetricValue, str]:
    """The value of a resolved condition, and a note: where it is, and which groups are left out.

    Groups with fewer than `min_size` samples are left out, or with fewer of the class `code` for a
    metric of one class. Raises `InvalidInput` for a metric that is not computed from counts, or
    has no worst value.
    """
    sizes = group_sizes(list(column.counted.values()), code)
    large = dict(zip(column.counted, (sizes >= min_size).tolist(), strict=True))
    judged = {name: each for name, each in column.counted.items() if large[name]}
    values = group_values(list(judged.values()), condition.key, code)
    scope = Scope.AGGREGATE if code is None else Scope.PER_CLASS
    direction = CATALOGUE[scope][condition.key].direction
    if condition.over is Over.GAP and column.do_overlap:
        raise InvalidInput(
            f"groups of {condition.by!r} overlap, so no gap between them is judged.",
            field="condition",
            hint="Use worst(…), or a column with one value for each example.",
        )
    if condition.over is Over.GAP:
        value = largest_difference(values)
    elif direction is Direction.NEITHER:
        raise InvalidInput(
            f"{condition.key!r} has no worst value: it is neither good nor bad.",
            field="condition",
            hint="Use gap(…), or a metric with a direction.",
        )
    else:
        value = worst(values, is_highest=direction is Direction.LOWER)
    few = ", ".join(name for name in column.counted if not large[name])
    of_class = f" of {condition.class_label!r}" if code is not None else ""
    left_out = [f"fewer than {min_size} labelled examples{of_class}: {few}"] if few else []
    left_out += [column.left_out] if column.left_out else []
    where = _where(condition, list(judged), values.values, direction)
    return value, "; ".join(filter(None, (where, *(f"left out: {each}" for each in left_out))))


def _where(
    condition: MetricCondition,
    names: Sequence[str],
    values: NDArray[np.float64],
    direction: Direction,
) -> str:
    """The groups that have the compared values, or in which the metric is undefined."""
    undefined = [name for name, value in zip(names, values.tolist(), strict=True) if isnan(value)]
    if undefined or not names:
        return f"undefined for {condition.by}={', '.join(undefined)}" if undefined else ""
    lowest, highest = names[int(values.argmin())], names[int(values.argmax())]
    if condition.over is Over.GAP:
        ends = {lowest: values.min(), highest: values.max()}
        return f"{condition.by}: " + ", ".join(f"{end:.3g} for {at}" for at, end in ends.items())
    at = highest if direction is Direction.LOWER else lowest
    return f"{condition.by}={column_text(at)}"
