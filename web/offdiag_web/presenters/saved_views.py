"""Saved views as lines of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl

from offdiag.store.saved_views import SavedView
from offdiag_web.presenters.times import Moment, moment


@dataclass(frozen=True, slots=True)
class ViewLine:
    """One view: its name, its short address and the filter that it stands for."""

    name: str
    slug: str
    filter: str
    author: str | None
    saved: Moment


def view_lines(views: Sequence[SavedView], *, now: datetime) -> tuple[ViewLine, ...]:
    """All views by name."""
    return tuple(
        ViewLine(
            view.name,
            view.slug,
            query_values(view.query).get("q", "all runs"),
            view.author,
            moment(view.created_at, now=now),
        )
        for view in views
    )


def query_values(query: str) -> dict[str, str]:
    """The values of a query string, the last one where a name comes twice."""
    return dict(parse_qsl(query))
