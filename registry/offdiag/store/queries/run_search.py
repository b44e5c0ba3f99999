"""Runs that fulfil a condition, sorted, as plain identifiers."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from offdiag.filters.conditions import Condition, Ordering
from offdiag.store.models import RunRow
from offdiag.store.queries.run_conditions import holds
from offdiag.store.queries.run_fields import sorted_by


def found_runs(
    session: Session, condition: Condition, *, order: Sequence[Ordering], limit: int
) -> list[str]:
    """Ids of at most `limit` runs that fulfil the condition; newest first among equals."""
    dialect = session.get_bind().dialect.name
    statement = select(RunRow.id).where(RunRow.deleted_at.is_(None), holds(condition, dialect))
    for ordering in order:
        for value in sorted_by(ordering.field, dialect):
            # Neither database sorts NULL last in both directions by itself.
            statement = statement.order_by(
                value.is_(None), value.desc() if ordering.descending else value
            )
    statement = statement.order_by(RunRow.created_at.desc(), RunRow.id.desc()).limit(limit)
    return list(session.execute(statement).scalars())
