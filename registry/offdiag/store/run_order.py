"""The orders of a run list, and keyset paging through them.

A list sorted by a metric has three groups: the runs where it is defined, by value; those with
weighted samples, also by value, because their values are not comparable; then all others, newest
first. Undefined values thus come last in both directions. Values of a parameter are numbers or
texts, each a group. The first group of a metric is read along the metric's own index, so a page
costs the same in a small and in a large registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, Subquery, and_, case, false, func, or_, select
from sqlalchemy.orm import aliased

from offdiag.store.flag_conditions import COUNTS_IN_BADGE, IS_IN_SIGHT
from offdiag.store.models import EvaluationRow, FlagRow, MetricValueRow, RunRow
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.run_conditions import entry_number, entry_text

AGGREGATE_ORDERS: Mapping[str, str] = {
    "acc": "overall_accuracy",
    "bal": "balanced_accuracy",
    "mcc": "mcc",
}
"""Orders by metrics with a name of their own; all other metrics are named by their key."""
WORST_CLASS = "worst"
"""Order by the lowest recall among the classes that have samples."""
FLAGGED = "flags"
"""Order by the number of classes that the accuracy hides; runs without any come last.

Ties are ordered by the number of classes that it may hide.
"""
_FAR_MORE = 1_000_000
_LOGGED_AT = RunRow.created_at.expression
NEWEST_FIRST_OF_EQUALS = (RunRow.created_at.desc(), RunRow.id.desc())
"""The order of runs with equal values of a metric."""
OF_PARAM = "param."
"""Prefix of the name of a parameter that a list is sorted by."""
FIELD_ORDERS = ("logged", "name")
ORDER_NAMES = (*FIELD_ORDERS, *AGGREGATE_ORDERS, WORST_CLASS, FLAGGED)


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What a list is sorted by, and in which direction.

    `name` is one of `ORDER_NAMES`, the key of a metric of whole runs, or the name of a parameter
    after `OF_PARAM`.
    """

    name: str = "logged"
    descending: bool = True

    @property
    def param(self) -> str | None:
        """The parameter that runs are sorted by, None for other orders."""
        return self.name.removeprefix(OF_PARAM) if self.name.startswith(OF_PARAM) else None


class Group(StrEnum):
    """The groups of a sorted list; texts are separate if other values are numbers."""

    DEFINED = "defined"
    WEIGHTED = "weighted"
    TEXT = "text"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a run in an order: its group, its sort key there, and its id."""

    group: Group
    key: float | str | datetime
    run_id: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """A page begins right after this place, or ends right before it if `backwards`."""

    place: Place
    backwards: bool = False


def order_by(metric: str, *, descending: bool = True) -> RunOrder:
    """The order by a metric of whole runs, given by its key."""
    name = next((name for name, key in AGGREGATE_ORDERS.items() if key == metric), metric)
    return RunOrder(name, descending)


def groups_of(order: RunOrder) -> tuple[Group, ...]:
    """The groups of a list in this order, first to last."""
    if order.name in FIELD_ORDERS:
        return (Group.DEFINED,)
    if order.param is not None:
        return (Group.DEFINED, Group.TEXT, Group.UNDEFINED)
    if order.name == FLAGGED:
        return (Group.DEFINED, Group.UNDEFINED)
    return (Group.DEFINED, Group.WEIGHTED, Group.UNDEFINED)


@dataclass(frozen=True, slots=True)
class InGroup:
    """The runs of a group, their sort key, and the direction.

    `run_id` breaks ties in the same direction; it is the id column of the index that is used. With
    `logged_at` the newest of equal runs comes first instead, as in every ranking by a metric.
    """

    runs: Select[Any]
    column: ColumnElement[Any]
    descending: bool
    run_id: ColumnElement[str]
    logged_at: ColumnElement[datetime] | None = None


def in_group(
    runs: Select[Any], order: RunOrder, group: Group, *, uses_index: bool, dialect: str
) -> InGroup:
    """Narrow `runs` (over run left join evaluation) to a group.

    With `uses_index` the index of the metric is used; otherwise the metric of each matching run is
    looked up.
    """
    if order.name in FIELD_ORDERS:
        column = RunRow.created_at if order.name == "logged" else RunRow.name
        return InGroup(runs, column.expression, order.descending, RunRow.id.expression)
    if order.param is not None:
        return _by_param(runs, order.param, group, descending=order.descending, dialect=dialect)
    return _by_value(runs, order, group, uses_index=uses_index)


def _by_value(runs: Select[Any], order: RunOrder, group: Group, *, uses_index: bool) -> InGroup:
    run_id = RunRow.id.expression
    if group is Group.UNDEFINED:
        is_undefined = _looked_up(order).is_(None)
        return InGroup(runs.where(is_undefined), RunRow.created_at.expression, True, run_id)
    if order.name != FLAGGED:
        wanted, is_weighted = group is Group.WEIGHTED, RunRow.is_weighted
        # With this wording SQLite uses no other index than that of the metric.
        runs = runs.where(is_weighted.is_(wanted) if uses_index else is_weighted == wanted)
    if order.name == WORST_CLASS:
        lowest = EvaluationRow.lowest_recall.expression
        # Also excludes NULL. With IS NOT NULL, SQLite would not know that there is an evaluation
        # and would not use its index.
        some = runs.where(lowest >= 0)
        return InGroup(some, lowest, order.descending, EvaluationRow.run_id.expression)
    if uses_index and order.name == FLAGGED:
        hidden = _hidden_classes()
        some = runs.join(hidden, hidden.c.run_id == RunRow.id)
        return InGroup(some, hidden.c.n, order.descending, run_id)
    if uses_index:
        metric = aliased(MetricValueRow)
        is_defined = and_(_is_value_of(metric, order), metric.value.is_not(None))
        some = runs.join(metric, is_defined)
        return InGroup(some, metric.value.expression, order.descending, run_id, _LOGGED_AT)
    value = _looked_up(order)
    some = runs.where(value.is_not(None))
    logged_at = None if order.name in {WORST_CLASS, FLAGGED} else _LOGGED_AT
    return InGroup(some, value, order.descending, run_id, logged_at)


def _by_param(
    runs: Select[Any], name: str, group: Group, *, descending: bool, dialect: str
) -> InGroup:
    run_id = RunRow.id.expression
    number = entry_number(RunRow.params, name, dialect)
    text = entry_text(RunRow.params, name, dialect)
    if group is Group.DEFINED:
        return InGroup(runs.where(number.is_not(None)), number, descending, run_id)
    if group is Group.TEXT:
        some = runs.where(number.is_(None), text.is_not(None))
        return InGroup(some, text, descending, run_id)
    return InGroup(runs.where(text.is_(None)), RunRow.created_at.expression, True, run_id)


def _looked_up(order: RunOrder) -> ColumnElement[float | None]:
    """The sort key of a run, looked up."""
    if order.name == WORST_CLASS:
        return EvaluationRow.lowest_recall.expression
    if order.name == FLAGGED:
        return (
            select(func.nullif(_n_hidden(), 0))
            .where(FlagRow.run_id == RunRow.id, COUNTS_IN_BADGE)
            .correlate(RunRow)
            .scalar_subquery()
        )
    metric = aliased(MetricValueRow)
    return (
        select(metric.value)
        .where(_is_value_of(metric, order))
        .correlate(EvaluationRow)
        .scalar_subquery()
    )


def _hidden_classes() -> Subquery:
    """How many classes the accuracy of each run hides, for the runs where it does or may."""
    return (
        select(FlagRow.run_id, _n_hidden().label("n"))
        .where(COUNTS_IN_BADGE)
        .group_by(FlagRow.run_id)
        .subquery()
    )


def _n_hidden() -> ColumnElement[int]:
    """The number of classes that accuracy hides, times `_FAR_MORE`, plus those it may hide."""
    hidden = func.count(case((~IS_IN_SIGHT, FlagRow.class_label)).distinct())
    in_sight = func.count(case((IS_IN_SIGHT, FlagRow.class_label)).distinct())
    return hidden * _FAR_MORE + in_sight


def _is_value_of(metric: type[MetricValueRow], order: RunOrder) -> ColumnElement[bool]:
    return and_(
        metric.evaluation_id == EvaluationRow.id,
        metric.key == AGGREGATE_ORDERS.get(order.name, order.name),
        metric.class_index == AGGREGATE,
    )


def beyond(
    group: InGroup, place: Place, *, backwards: bool = False, inclusive: bool = False
) -> ColumnElement[bool]:
    """Runs that come after `place` within its group, or with `inclusive` also the one at it.

    With `backwards` those that come before it.
    """
    there = aliased(RunRow)
    logged_at = select(there.created_at).where(there.id == place.run_id).scalar_subquery()
    keys = (
        [place.key, place.run_id]
        if group.logged_at is None
        else [place.key, logged_at, place.run_id]
    )
    is_beyond: ColumnElement[bool] = group.run_id == place.run_id if inclusive else false()
    sorting = _sorting(group, backwards=backwards)
    for (each, falls), key in zip(sorting[::-1], keys[::-1], strict=True):
        is_beyond = or_(each < key if falls else each > key, and_(each == key, is_beyond))
    # The bound follows from the rest, but lets an index start at the place.
    (column, falls), *_ = sorting
    return and_(column <= place.key if falls else column >= place.key, is_beyond)


def sorted_by(runs: Select[Any], group: InGroup, *, backwards: bool = False) -> Select[Any]:
    """The runs of a group in its order, or from its end."""
    return runs.order_by(*order_of(group, backwards=backwards))


def order_of(group: InGroup, *, backwards: bool = False) -> list[ColumnElement[Any]]:
    """What the runs of a group are sorted by."""
    sorting = _sorting(group, backwards=backwards)
    return [each.desc() if falls else each.asc() for each, falls in sorting]


def _sorting(group: InGroup, *, backwards: bool) -> list[tuple[ColumnElement[Any], bool]]:
    """The columns that a group is sorted by, each with whether it falls."""
    sorting = [(group.column, group.descending)]
    if group.logged_at is None:
        sorting.append((group.run_id, group.descending))
    else:
        sorting += [(group.logged_at, True), (group.run_id, True)]
    return [(each, falls is not backwards) for each, falls in sorting]
