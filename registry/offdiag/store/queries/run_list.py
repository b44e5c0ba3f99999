"""The runs list: one page of runs with the few metrics it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, func, select
from sqlalchemy.orm import Session

from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import DatasetRow, EvaluationRow, ProjectRow, RunRow, TruthVersionRow
from offdiag.store.queries.run_entries import (
    LISTED_METRICS,
    RUN_COLUMNS,
    RunEntry,
    run_entries,
)
from offdiag.store.queries.run_filter import RunFilter, conditions
from offdiag.store.queries.run_order import (
    FIELD_ORDERS,
    Cursor,
    Group,
    Place,
    RunOrder,
    beyond,
    groups_of,
    in_group,
    sorted_by,
)

SORTED_IN_MEMORY = 1_000
"""Up to this many matching runs are fetched and sorted rather than found along an index."""


@dataclass(frozen=True, slots=True)
class RunListPage:
    """A page of a sorted list; `position` is that of its first entry, counted from 1."""

    entries: tuple[RunEntry, ...]
    total: int
    position: int
    previous: Cursor | None
    following: Cursor | None


@dataclass(frozen=True, slots=True)
class _Found:
    """A run on the page, before its metrics are known."""

    row: Any
    place: Place


def run_list(
    session: Session,
    *,
    terms: RunFilter,
    dataset_id: int | None,
    order: RunOrder,
    cursor: Cursor | None,
    limit: int,
    metrics: Sequence[str] = LISTED_METRICS,
) -> RunListPage:
    """A page of the runs for which all terms hold.

    `dataset_id` narrows the list to one dataset; `metrics` are the keys that its lines have. At
    most four statements, five where a page holds the border between defined and undefined
    values.
    """
    where = _where(session, terms, dataset_id)
    total, before = _counts(session, where, order, cursor)
    plan = _Plan(where, order, cursor, uses_index=total > SORTED_IN_MEMORY)
    found = _page(session, plan, limit + 1)
    has_more, found = len(found) > limit, found[:limit]
    if plan.backwards:
        found.reverse()
        before -= len(found)
    return RunListPage(
        entries=run_entries(session, [run.row for run in found], metrics=metrics),
        total=total,
        position=before + 1,
        previous=Cursor(found[0].place, backwards=True) if found and before > 0 else None,
        following=Cursor(found[-1].place) if found and (plan.backwards or has_more) else None,
    )


def matches_without_each(session: Session, *, terms: RunFilter) -> tuple[int, ...]:
    """How many runs would be listed without the first term, without the second, and so on."""
    if not terms:
        return ()
    counts = [
        _count(_where(session, terms[:left_out] + terms[left_out + 1 :], None))
        for left_out in range(len(terms))
    ]
    return tuple(int(count) for count in session.execute(select(*counts)).one())


@dataclass(frozen=True, slots=True)
class _Plan:
    """Which runs, in which order, from where on.

    `uses_index` walks along the index of the metric, which pays where most runs match; else
    the few that match are sorted.
    """

    where: Sequence[ColumnElement[bool]]
    order: RunOrder
    cursor: Cursor | None
    uses_index: bool

    @property
    def backwards(self) -> bool:
        return self.cursor is not None and self.cursor.backwards


def _where(
    session: Session, terms: RunFilter, dataset_id: int | None
) -> list[ColumnElement[bool]]:
    where = conditions(terms, session.get_bind().dialect.name)
    if dataset_id is not None:
        where.append(RunRow.dataset_id == dataset_id)
    return where


def _evaluated(*columns: Any) -> Select[Any]:
    """All runs, each with its current evaluation of all its cases, if it has one."""
    is_current = and_(
        EvaluationRow.run_id == RunRow.id,
        counts_for_its_run(),
    )
    return select(*columns).select_from(RunRow).outerjoin(EvaluationRow, is_current)


def _page(session: Session, plan: _Plan, limit: int) -> list[_Found]:
    """Up to `limit` runs from the cursor on, in reading direction of the cursor."""
    lines = (
        _evaluated(*RUN_COLUMNS)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .outerjoin(
            TruthVersionRow,
            TruthVersionRow.id
            == func.coalesce(EvaluationRow.truth_version_id, RunRow.truth_version_id),
        )
        .where(*plan.where)
    )
    groups = groups_of(plan.order)[::-1] if plan.backwards else groups_of(plan.order)
    if plan.cursor is not None:
        groups = groups[groups.index(plan.cursor.place.group) :]
    found: list[_Found] = []
    for group in groups:
        part = in_group(lines, plan.order, group, uses_index=plan.uses_index)
        runs, direction = part.runs, part.descending != plan.backwards
        if plan.cursor is not None and plan.cursor.place.group is group:
            runs = runs.where(beyond(part, plan.cursor.place, descending=direction))
        rows = session.execute(
            sorted_by(runs, part, descending=direction)
            .add_columns(part.column.label("place"))
            .limit(limit - len(found))
        )
        found += [_Found(row, Place(group, row.place, row.id)) for row in rows]
        if len(found) == limit:
            break
    return found


def _counts(
    session: Session,
    where: Sequence[ColumnElement[bool]],
    order: RunOrder,
    cursor: Cursor | None,
) -> tuple[int, int]:
    """Number of runs in the list, and of those before the place where reading begins.

    Only the group of the cursor is counted: what lies before a place among the undefined
    values is all but what lies after it.
    """
    total = _count(where)
    if cursor is None:
        return int(session.execute(select(total)).scalar_one()), 0
    place, is_last_group = cursor.place, cursor.place.group is Group.UNDEFINED
    # Fields are the run's own, and to join what is not asked for would double the time.
    all_runs = (
        select(func.count()).select_from(RunRow)
        if order.name in FIELD_ORDERS
        else _evaluated(func.count())
    )
    part = in_group(all_runs.where(*where), order, place.group, uses_index=True)
    side = beyond(
        part,
        place,
        descending=part.descending if is_last_group else not part.descending,
        inclusive=cursor.backwards if is_last_group else not cursor.backwards,
    )
    counted, on_side = session.execute(
        select(total, part.runs.where(side).scalar_subquery())
    ).one()
    return int(counted), int(counted - on_side if is_last_group else on_side)


def _count(where: Sequence[ColumnElement[bool]]) -> ScalarSelect[int]:
    return select(func.count()).select_from(RunRow).where(*where).scalar_subquery()
