"""The value that a condition compares over all groups of a slice column: the worst, or the gap."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput
from offdiag.filters.conditions import Over
from offdiag.gate.conditions import ColumnGroups, MetricCondition
from offdiag.metrics.catalogue import CATALOGUE, Direction, Scope
from offdiag.metrics.groups.gaps import group_sizes, group_values, largest_difference, worst

_SEED = 1
"""Seed of drawn intervals: the same counts give the same ends."""


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
    values = group_values(list(judged.values()), condition.key, code, seed=_SEED)
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
    return f"{condition.by}={highest if direction is Direction.LOWER else lowest}"
