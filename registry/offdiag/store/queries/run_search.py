"""Runs that fulfil a condition, sorted, as plain identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, false, literal, or_, select
from sqlalchemy.orm import Session

from offdiag.filters.conditions import Condition, Ordering
from offdiag.store.models import RunRow
from offdiag.store.queries.run_conditions import holds
from offdiag.store.queries.run_fields import sorted_by

SortValue = str | float | bool | datetime | None


@dataclass(frozen=True, slots=True)
class SearchPlace:
    """Where a run stands in a sorted search: what it is sorted by, then its age and its id."""

    values: tuple[SortValue, ...]
    created_at: datetime
    run_id: str


@dataclass(frozen=True, slots=True)
class FoundIds:
    """Ids in order; `following` is the place after which more are found, None at the end."""

    ids: tuple[str, ...]
    following: SearchPlace | None


def found_runs(
    session: Session, condition: Condition, *, order: Sequence[Ordering], limit: int
) -> list[str]:
    """Ids of at most `limit` runs that fulfil the condition; newest first among equals."""
    return list(found_page(session, condition, order=order, after=None, limit=limit).ids)


def found_page(
    session: Session,
    condition: Condition,
    *,
    order: Sequence[Ordering],
    after: SearchPlace | None,
    limit: int,
) -> FoundIds:
    """The same for the runs that come after a place of a search with this order."""
    dialect = session.get_bind().dialect.name
    sorting = [
        (value.label(f"sorted_by_{place}_{part}"), ordering.descending)
        for place, ordering in enumerate(order)
        for part, value in enumerate(sorted_by(ordering.field, dialect))
    ]
    statement = select(RunRow.id, RunRow.created_at, *(value for value, _ in sorting)).where(
        RunRow.deleted_at.is_(None), holds(condition, dialect)
    )
    if after is not None:
        statement = statement.where(_is_beyond(after, sorting))
    for value, descending in sorting:
        # Neither database sorts NULL last in both directions by itself.
        statement = statement.order_by(value.is_(None), value.desc() if descending else value)
    statement = statement.order_by(RunRow.created_at.desc(), RunRow.id.desc()).limit(limit + 1)
    rows = session.execute(statement).all()
    following = None
    if len(rows) > limit:
        last = rows[limit - 1]
        following = SearchPlace(tuple(last[2:]), last.created_at, last.id)
    return FoundIds(tuple(row.id for row in rows[:limit]), following)


def _is_beyond(
    place: SearchPlace, sorting: Sequence[tuple[ColumnElement[Any], bool]]
) -> ColumnElement[bool]:
    """Whether a run comes after a place, where what is missing comes last."""
    columns: list[tuple[ColumnElement[Any], bool, SortValue]] = [
        *(
            (value, descending, at)
            for (value, descending), at in zip(sorting, place.values, strict=True)
        ),
        (RunRow.created_at.expression, True, place.created_at),
        (RunRow.id.expression, True, place.run_id),
    ]
    ties: list[ColumnElement[bool]] = []
    beyond: list[ColumnElement[bool]] = []
    for column, descending, at in columns:
        value = getattr(column, "element", column)
        if at is None:
            ties.append(value.is_(None))
            continue
        known = literal(at, value.type)
        further = value < known if descending else value > known
        beyond.append(and_(*ties, or_(further, value.is_(None))))
        ties.append(value == known)
    return or_(false(), *beyond)
