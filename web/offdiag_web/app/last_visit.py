"""What is new to a reader since their last visit, and how many new problems there are.

The time of that visit is stored with the account of a signed-in user, otherwise in a cookie.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import ClassVar, cast

from flask import Blueprint, Flask, current_app, redirect, request
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.flags.problems import Problem
from offdiag.services.access.users import mark_news_seen
from offdiag.store.database import Database, Session
from offdiag.store.problems import unresolved_problems
from offdiag.store.users import news_seen_at
from offdiag_web.app.context import current_registry, requires, signed_in_user
from offdiag_web.app.dispatch import own_path
from offdiag_web.app.preferences import keep_choice
from offdiag_web.urls.query_string import whole_number

NEWS_AT_FIRST = timedelta(days=7)
"""How far back the news goes for a reader who has never marked any as seen."""
_COOKIE = "news-seen"
_LARGEST_TIME = 10**16 - 1

blueprint = Blueprint("last_visit", __name__)


def news_since(session: Session, *, now: datetime) -> datetime:
    """The time after which everything is new to the reader of this request."""
    caller = signed_in_user().caller
    if caller is not None and caller.user_id is not None:
        seen = news_seen_at(session, caller.user_id)
    else:
        seen = _from_cookie(request.cookies.get(_COOKIE, ""))
    return now - NEWS_AT_FIRST if seen is None else min(seen, now)


def _from_cookie(text: str) -> datetime | None:
    """The time from microseconds: an event later within the same second is still new."""
    since = whole_number(text, most=_LARGEST_TIME)
    return None if since is None else datetime.fromtimestamp(since / 1e6, UTC)


@blueprint.post("/seen")
@requires(Role.VIEWER)
def mark_seen() -> Response:
    """Mark everything that has happened up to now as seen."""
    response = redirect(own_path(request.form.get("back", "/")), 303)
    database, caller = current_registry().database, signed_in_user().caller
    now = database.clock()
    if caller is not None and caller.user_id is not None:
        mark_news_seen(database, user_id=caller.user_id)
    else:
        keep_choice(response, _COOKIE, str(int(now.timestamp() * 1e6)))
    open_problems().forget()
    return response


COUNT_KEPT_FOR_S = 15.0
"""A page may show a number this old; users see the effect of their own decision immediately."""
MOST_READERS = 100


class OpenProblems:
    """Unresolved problems, read again when a page asks and they are older than `COUNT_KEPT_FOR_S`.

    Otherwise every page would need its own queries for a number that hardly ever changes. Readers
    who see the same projects share the result.
    """

    KEY: ClassVar[str] = "offdiag open problems"

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        # Each entry is a single value, so threads never see a list with the time of another.
        self._known: dict[frozenset[str] | None, tuple[float, list[Problem]]] = {}
        self._seen: dict[int, tuple[float, datetime]] = {}

    def list(self, database: Database) -> Sequence[Problem]:
        """The problems of the visible projects, in the order of lists."""
        known, now = self._known.get(database.projects), self._monotonic()
        if known is None or now - known[0] > COUNT_KEPT_FOR_S:
            self._forget_if_many()
            with database.read() as session:
                found = unresolved_problems(session, now=database.clock())
            known = self._known[database.projects] = (now, found)
        return known[1]

    def count(self, database: Database, since: Callable[[Session], datetime], reader: int) -> int:
        """The number of problems since the time that `since` reads; reader 0 has no account."""
        problems, now = self.list(database), self._monotonic()
        seen = self._seen.get(reader) if reader else None
        if seen is None or now - seen[0] > COUNT_KEPT_FOR_S:
            with database.read() as session:
                seen = (now, since(session))
            if reader:
                self._seen[reader] = seen
        return sum(problem.is_new(seen[1]) for problem in problems)

    def forget(self) -> None:
        """Read everything again next time, after a decision or a visit."""
        self._known, self._seen = {}, {}

    def _forget_if_many(self) -> None:
        if max(len(self._known), len(self._seen)) >= MOST_READERS:
            self.forget()


def open_problems() -> OpenProblems:
    """The unresolved problems of the application that is handling the request."""
    return cast(OpenProblems, current_app.extensions[OpenProblems.KEY])


def show_new_problems(app: Flask) -> None:
    """Make the number available to the layout of every page, as an empty text if it is 0."""
    app.extensions[OpenProblems.KEY] = OpenProblems()

    @app.template_global("new_problems")
    def shown() -> str:
        caller = signed_in_user().caller
        database = current_registry().database
        reader = 0 if caller is None else caller.user_id or 0
        count = open_problems().count(
            database, lambda session: news_since(session, now=database.clock()), reader
        )
        return f"{count:,}" if count else ""
