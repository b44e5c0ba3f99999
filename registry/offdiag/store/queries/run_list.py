"""The runs list: one page of runs with the few metrics it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, literal, select
from sqlalchemy.orm import Session

from offdiag.store.models import DatasetRow, EvaluationRow, ProjectRow, RunRow, TruthVersionRow
from offdiag.store.queries.run_entries import RUN_COLUMNS, RunEntry, run_entries
from offdiag.store.queries.run_filter import RunFilter, conditions
from offdiag.store.queries.run_order import (
    Cursor,
    Place,
    RunOrder,
    beyond,
    groups_of,
    in_group,
    sorted_by,
)


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
) -> RunListPage:
    """A page of the runs for which all terms hold.

    `dataset_id` narrows the list to one dataset. At most four statements, five where a page
    holds the border between defined and undefined values.
    """
    where = conditions(terms, session.get_bind().dialect.name)
    if dataset_id is not None:
        where.append(RunRow.dataset_id == dataset_id)
    backwards = cursor is not None and cursor.backwards
    found = _page(session, where, order, cursor, limit + 1)
    has_more, found = len(found) > limit, found[:limit]
    if backwards:
        found.reverse()
    total, before = _counts(session, where, order, found[0].place if found and cursor else None)
    return RunListPage(
        entries=run_entries(session, [run.row for run in found]),
        total=total,
        position=before + 1,
        previous=_cursor(found[:1], backwards=True)
        if (has_more if backwards else before > 0)
        else None,
        following=_cursor(found[-1:], backwards=False) if backwards or has_more else None,
    )


def matches_without_each(session: Session, *, terms: RunFilter) -> tuple[int, ...]:
    """How many runs would be listed without the first term, without the second, and so on."""
    if not terms:
        return ()
    dialect = session.get_bind().dialect.name
    counts = []
    for left_out in range(len(terms)):
        where = conditions(terms[:left_out] + terms[left_out + 1 :], dialect)
        counts.append(_runs(func.count()).where(*where).scalar_subquery())
    return tuple(int(count) for count in session.execute(select(*counts)).one())


def _cursor(ends: Sequence[_Found], *, backwards: bool) -> Cursor | None:
    return Cursor(ends[0].place, backwards) if ends else None


def _runs(*columns: Any) -> Select[Any]:
    return (
        select(*columns)
        .select_from(RunRow)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == RunRow.truth_version_id)
        .outerjoin(
            EvaluationRow,
            and_(
                EvaluationRow.run_id == RunRow.id,
                EvaluationRow.is_current,
                EvaluationRow.slice.is_(None),
            ),
        )
    )


def _page(
    session: Session,
    where: Sequence[ColumnElement[bool]],
    order: RunOrder,
    cursor: Cursor | None,
    limit: int,
) -> list[_Found]:
    """Up to `limit` runs from the cursor on, in reading direction of the cursor."""
    backwards = cursor is not None and cursor.backwards
    groups = groups_of(order)[::-1] if backwards else groups_of(order)
    if cursor is not None:
        groups = groups[groups.index(cursor.place.group) :]
    found: list[_Found] = []
    for group in groups:
        runs, column, descending = in_group(_runs(*RUN_COLUMNS).where(*where), order, group)
        # Columns are added here because the sort column belongs to a join made for the group.
        runs = runs.add_columns(column.label("place"))
        direction = descending != backwards
        if cursor is not None and cursor.place.group is group:
            runs = runs.where(beyond(column, cursor.place, descending=direction))
        rows = session.execute(
            sorted_by(runs, column, descending=direction).limit(limit - len(found))
        )
        found += [_Found(row, Place(group, row.place, row.id)) for row in rows]
        if len(found) == limit:
            break
    return found


def _counts(
    session: Session,
    where: Sequence[ColumnElement[bool]],
    order: RunOrder,
    first: Place | None,
) -> tuple[int, int]:
    """Number of runs in the list, and of those before `first`."""
    total = _runs(func.count()).where(*where).scalar_subquery()
    before: ColumnElement[int] = literal(0)
    if first is not None:
        groups = groups_of(order)
        for group in groups[: groups.index(first.group) + 1]:
            runs, column, descending = in_group(_runs(func.count()).where(*where), order, group)
            if group is first.group:
                runs = runs.where(beyond(column, first, descending=not descending))
            before = before + runs.scalar_subquery()
    counted = session.execute(select(total, before)).one()
    return int(counted[0]), int(counted[1])
