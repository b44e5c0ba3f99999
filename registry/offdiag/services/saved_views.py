"""Saved views: list pages with their query strings, stored under names."""

from __future__ import annotations

import secrets

from offdiag.domain.runs import require_name
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.store import saved_views
from offdiag.store.database import Database
from offdiag.store.saved_views import SavedView

MOST_VIEWS = 100
LONGEST_QUERY = 8_000
_SLUG_BYTES = 6


def save_view(
    database: Database, *, name: str, page: str, query: str, author: str | None
) -> SavedView:
    """Save a page with its query string under a name; the same view is saved once.

    Raises `Conflict` if the page already has another view of that name or as many views as it may
    have, and `InvalidInput` for an unusable name and a query that is too long.
    """
    if len(query) > LONGEST_QUERY:
        raise InvalidInput(
            f"the view has {len(query):,} characters; at most {LONGEST_QUERY:,} are kept.",
            field="query",
            hint="Shorten its filter.",
        )
    view = SavedView(
        slug=secrets.token_urlsafe(_SLUG_BYTES),
        name=require_name(name.strip(), "name"),
        page=page,
        query=query,
        author=author,
        created_at=database.clock(),
    )
    with database.write() as session:
        known = saved_views.views_of(session, page, limit=MOST_VIEWS)
        for each in known:
            if (each.name, each.query, each.author) == (view.name, query, author):
                return each
        if len(known) >= MOST_VIEWS:
            raise Conflict(
                f"there are {MOST_VIEWS} views already.",
                field="name",
                hint="Remove one that is no longer needed.",
            )
        if not saved_views.add_view(session, view):
            raise Conflict(
                f"view {view.name!r} already exists.",
                field="name",
                hint="Choose another name, or remove the old view first.",
            )
    return view


def saved_view(database: Database, slug: str) -> SavedView:
    """The view with a slug. Raises `NotFound`."""
    with database.read() as session:
        found = saved_views.find_view(session, slug)
    if found is None:
        raise _no_view()
    return found


def remove_view(database: Database, slug: str) -> None:
    """Remove a view. Raises `NotFound`."""
    with database.write() as session:
        if not saved_views.remove_view(session, slug):
            raise _no_view()


def _no_view() -> NotFound:
    return NotFound(
        "there is no such view.",
        field="view",
        hint="It may have been removed; the list itself is at /runs.",
    )
