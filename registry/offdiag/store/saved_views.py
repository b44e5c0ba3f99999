"""Statements on saved views."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from offdiag.store.models import SavedViewRow


@dataclass(frozen=True, slots=True)
class SavedView:
    """A page with a query string, kept under a name; `slug` is the end of its address."""

    slug: str
    name: str
    page: str
    query: str
    author: str | None
    created_at: datetime


def add_view(session: Session, view: SavedView) -> bool:
    """Keep a view; says False where its page has one of that name, and keeps nothing."""
    row = SavedViewRow(
        slug=view.slug,
        name=view.name,
        page=view.page,
        query=view.query,
        author=view.author,
        created_at=view.created_at,
    )
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:
        return False
    return True


def find_view(session: Session, slug: str) -> SavedView | None:
    """The view at an address."""
    row = session.get(SavedViewRow, slug)
    return None if row is None else _view(row)


def views_of(session: Session, page: str, *, limit: int) -> list[SavedView]:
    """The views of a page by name."""
    rows = session.scalars(
        select(SavedViewRow)
        .where(SavedViewRow.page == page)
        .order_by(SavedViewRow.name)
        .limit(limit)
    )
    return [_view(row) for row in rows]


def remove_view(session: Session, slug: str) -> bool:
    """Forget a view; says whether there was one."""
    gone = session.execute(
        delete(SavedViewRow).where(SavedViewRow.slug == slug).returning(SavedViewRow.slug)
    )
    return gone.first() is not None


def _view(row: SavedViewRow) -> SavedView:
    return SavedView(row.slug, row.name, row.page, row.query, row.author, row.created_at)
