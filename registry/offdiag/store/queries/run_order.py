"""Orders a run list can have, and keyset paging through them.

A list sorted by a metric has two groups: the runs where it is defined, by value, and then all
others, newest first. Undefined values thus stand last in both directions. The first group is
driven by the metric's own index, so a page costs the same in a small and in a large registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import aliased

from offdiag.store.models import EvaluationRow, FlagRow, MetricValueRow, RunRow
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.flag_filter import COUNTS_IN_BADGE

AGGREGATE_ORDERS: Mapping[str, str] = {
    "acc": "overall_accuracy",
    "bal": "balanced_accuracy",
    "mcc": "mcc",
}
"""Short names of metrics that have one; a list can be sorted by any other under its key."""
WORST_CLASS = "worst"
"""Order by the lowest recall among the classes that have cases."""
FLAGGED = "flags"
"""Order by the number of classes that the accuracy hides; runs without any stand last."""
FIELD_ORDERS = ("logged", "name")
ORDER_NAMES = (*FIELD_ORDERS, *AGGREGATE_ORDERS, WORST_CLASS, FLAGGED)


@dataclass(frozen=True, slots=True)
class RunOrder:
    """By what a list is sorted, and in which direction.

    `name` is one of `ORDER_NAMES` or the key of a metric of whole runs.
    """

    name: str = "logged"
    descending: bool = True


class Group(StrEnum):
    """The two parts of a sorted list."""

    DEFINED = "defined"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands in an order: its group, what it is sorted by there, and its id."""

    group: Group
    key: float | str | datetime
    run_id: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """A page begins right after this place, or ends right before it when `backwards`."""

    place: Place
    backwards: bool = False


def groups_of(order: RunOrder) -> tuple[Group, ...]:
    """The groups of a list in this order, first to last."""
    return (Group.DEFINED,) if order.name in FIELD_ORDERS else (Group.DEFINED, Group.UNDEFINED)


def in_group(
    runs: Select[Any], order: RunOrder, group: Group, *, uses_index: bool
) -> tuple[Select[Any], ColumnElement[Any], bool]:
    """Narrow `runs` (over run left join evaluation) to a group.

    Returns the statement, the column it is sorted by and whether that is descending.
    `uses_index` walks along the index of the metric; otherwise the metric of each matching
    run is looked up.
    """
    if order.name in FIELD_ORDERS:
        column = RunRow.created_at if order.name == "logged" else RunRow.name
        return runs, column.expression, order.descending
    if group is Group.DEFINED and uses_index and order.name not in {WORST_CLASS, FLAGGED}:
        metric = aliased(MetricValueRow)
        is_defined = and_(_is_value_of(metric, order), metric.value.is_not(None))
        return runs.join(metric, is_defined), metric.value.expression, order.descending
    value = _looked_up(order)
    if group is Group.DEFINED:
        return runs.where(value.is_not(None)), value, order.descending
    return runs.where(value.is_(None)), RunRow.created_at.expression, True


def _looked_up(order: RunOrder) -> ColumnElement[float | None]:
    """What a run is sorted by; for the worst class the lowest of its recalls."""
    if order.name == FLAGGED:
        return (
            select(func.nullif(func.count(FlagRow.class_label.distinct()), 0))
            .where(FlagRow.run_id == RunRow.id, COUNTS_IN_BADGE)
            .correlate(RunRow)
            .scalar_subquery()
        )
    metric = aliased(MetricValueRow)
    return (
        select(func.min(metric.value))
        .where(_is_value_of(metric, order))
        .correlate(EvaluationRow)
        .scalar_subquery()
    )


def _is_value_of(metric: type[MetricValueRow], order: RunOrder) -> ColumnElement[bool]:
    if order.name == WORST_CLASS:
        key, of_class = "recall", metric.class_index > AGGREGATE
    else:
        key = AGGREGATE_ORDERS.get(order.name, order.name)
        of_class = metric.class_index == AGGREGATE
    return and_(metric.evaluation_id == EvaluationRow.id, metric.key == key, of_class)


def beyond(
    column: ColumnElement[Any], place: Place, *, descending: bool, inclusive: bool = False
) -> ColumnElement[bool]:
    """Runs that come after `place` within its group, or also the one at it.

    Ids break ties in the same direction.
    """
    run_id = RunRow.id.expression
    if descending:
        further, same_but_further = column < place.key, run_id < place.run_id
    else:
        further, same_but_further = column > place.key, run_id > place.run_id
    if inclusive:
        same_but_further |= run_id == place.run_id
    return or_(further, and_(column == place.key, same_but_further))


def sorted_by(runs: Select[Any], column: ColumnElement[Any], *, descending: bool) -> Select[Any]:
    """The order of a group."""
    if descending:
        return runs.order_by(column.desc(), RunRow.id.desc())
    return runs.order_by(column, RunRow.id)
