"""Statements on saved views: pages with a query string, stored under a name."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from offdiag.store.models import SavedViewRow
from offdiag.store.models.base import record_as


@dataclass(frozen=True, slots=True)
class SavedView:
    """A page with a query string, stored under a name; `slug` is the end of its address."""

    slug: str
    name: str
    page: str
    query: str
    author: str | None
    created_at: datetime


def add_view(session: Session, view: SavedView) -> bool:
    """Store a view; returns False and stores nothing if its page has one of that name."""
    try:
        with session.begin_nested():
            session.add(SavedViewRow(**asdict(view)))
    except IntegrityError:
        return False
    return True


def find_view(session: Session, slug: str) -> SavedView | None:
    row = session.get(SavedViewRow, slug)
    return None if row is None else record_as(SavedView, row)


def views_of(session: Session, page: str, *, limit: int) -> list[SavedView]:
    rows = session.scalars(
        select(SavedViewRow)
        .where(SavedViewRow.page == page)
        .order_by(SavedViewRow.name)
        .limit(limit)
    )
    return [record_as(SavedView, row) for row in rows]


def remove_view(session: Session, slug: str) -> bool:
    """Remove a view; returns whether it existed."""
    gone = session.execute(
        delete(SavedViewRow).where(SavedViewRow.slug == slug).returning(SavedViewRow.slug)
    )
    return gone.first() is not None
