"""Statements on comments: what people wrote about a run, a dataset or a flag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import func, insert, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from offdiag.store.models import CommentRow


class About(StrEnum):
    """What a comment is about, by the column that names it."""

    RUN = "run_id"
    DATASET = "dataset_id"
    FLAG = "flag_id"


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment; `about` is the key of its run, dataset or flag."""

    id: int
    about: str | int
    at: datetime
    author: str | None
    text: str


def comments_on(session: Session, about: About, *keys: str | int) -> list[Comment]:
    """All comments on several objects of one kind, oldest first."""
    column = _column(about)
    rows = session.scalars(select(CommentRow).where(column.in_(keys)).order_by(CommentRow.id))
    return [
        Comment(row.id, getattr(row, about.value), row.at, row.author, row.text) for row in rows
    ]


def add_comments(
    session: Session,
    about: About,
    keys: Sequence[str | int],
    *,
    text: str,
    author: str | None,
    now: datetime,
) -> None:
    """Add the same comment to several objects of one kind.

    Objects whose newest comment is the same already are skipped: a second click sends a form
    twice.
    """
    column = _column(about)
    newest = select(func.max(CommentRow.id)).where(column.in_(keys)).group_by(column)
    is_same = (CommentRow.text == text) & CommentRow.author.is_not_distinct_from(author)
    said = set(session.scalars(select(column).where(CommentRow.id.in_(newest), is_same)))
    rows = [
        {about.value: key, "at": now, "author": author, "text": text}
        for key in keys
        if key not in said
    ]
    if rows:
        session.execute(insert(CommentRow), rows)


def _column(about: About) -> InstrumentedAttribute[str | int]:
    column: InstrumentedAttribute[str | int] = getattr(CommentRow, about.value)
    return column
