"""The runs list: one page of runs with the few metrics it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.queries.run_counts import (
    MatchingRuns,
    RunCount,
    count_of,
    counted_runs,
    evaluated_runs,
    matching_runs,
)
from offdiag.store.queries.run_entries import (
    LISTED_METRICS,
    RUN_COLUMNS,
    RunEntry,
    run_entries,
)
from offdiag.store.queries.run_filter import RunFilter
from offdiag.store.queries.run_order import (
    FIELD_ORDERS,
    Cursor,
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
    """A page of a sorted list; `position` is that of its first entry, counted from 1.

    More runs than `total` match unless it `counts_all`.
    """

    entries: tuple[RunEntry, ...]
    total: int
    position: int
    previous: Cursor | None
    following: Cursor | None
    counts_all: bool = True


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
    runs = matching_runs(session, terms, dataset_id)
    found, counted = _read(session, runs, order, cursor, limit + 1)
    before, backwards = counted.before, cursor is not None and cursor.backwards
    has_more, found = len(found) > limit, found[:limit]
    if backwards:
        found.reverse()
        before -= len(found)
    following = Cursor(found[-1].place) if found and (backwards or has_more) else None
    total, last = counted.total, before + len(found)
    if not counted.counts_all:
        # A page beyond what was counted knows of more, and the last of all knows the number.
        total = last if following is None else max(total, last)
    return RunListPage(
        entries=run_entries(session, [run.row for run in found], metrics=metrics),
        total=total,
        position=before + 1,
        previous=Cursor(found[0].place, backwards=True) if found and before > 0 else None,
        following=following,
        counts_all=counted.counts_all or following is None,
    )


def matches_without_each(session: Session, *, terms: RunFilter) -> tuple[int, ...]:
    """How many runs would be listed without the first term, without the second, and so on."""
    if not terms:
        return ()
    counts = [
        count_of(matching_runs(session, terms[:left_out] + terms[left_out + 1 :], None).where)
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


def _read(
    session: Session, runs: MatchingRuns, order: RunOrder, cursor: Cursor | None, limit: int
) -> tuple[list[_Found], RunCount]:
    """Up to `limit` runs in reading direction of the cursor, and how many there are."""
    if cursor is None and order.name in FIELD_ORDERS and runs.with_metric is None:
        # Each run that has to be looked at is looked at once: where the page has all that
        # match, they need no counting.
        found = _page(session, _Plan(runs.where, order, cursor, uses_index=True), limit)
        if len(found) < limit:
            return found, RunCount(len(found))
        return found, counted_runs(session, runs, order, cursor)
    counted = counted_runs(session, runs, order, cursor)
    if counted.total == 0:
        return [], counted
    are_many = not counted.counts_all or counted.total > SORTED_IN_MEMORY
    where = runs.where if are_many else runs.narrowed
    return _page(session, _Plan(where, order, cursor, uses_index=are_many), limit), counted


def _page(session: Session, plan: _Plan, limit: int) -> list[_Found]:
    """Up to `limit` runs from the cursor on, in reading direction of the cursor."""
    lines = (
        evaluated_runs(*RUN_COLUMNS)
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
