"""Until when a reader has seen the news: what happened later is new to them.

Kept with the account of whoever signed in, else in a cookie of the browser.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from flask import Blueprint, redirect, request
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.services.access.users import mark_news_seen
from offdiag.store.session import Session
from offdiag.store.users import news_seen_at
from offdiag_web.app.context import current_registry, signed_in_user
from offdiag_web.app.paths import own_path
from offdiag_web.app.permissions import requires
from offdiag_web.app.preferences import keep_choice

NEWS_AT_FIRST = timedelta(days=7)
"""How far back the news go for a reader who never marked any as seen."""
_COOKIE = "news-seen"

blueprint = Blueprint("last_visit", __name__)


def news_since(session: Session, *, now: datetime) -> datetime:
    """The moment after which everything is new to the reader of this request."""
    caller = signed_in_user().caller
    if caller is not None and caller.user_id is not None:
        seen = news_seen_at(session, caller.user_id)
    else:
        seen = _from_cookie(request.cookies.get(_COOKIE, ""))
    return now - NEWS_AT_FIRST if seen is None else min(seen, now)


def _from_cookie(text: str) -> datetime | None:
    """From microseconds: what follows within the second is new."""
    if not (text.isascii() and text.isdigit() and len(text) <= 16):
        return None
    return datetime.fromtimestamp(int(text) / 1e6, UTC)


@blueprint.post("/seen")
@requires(Role.VIEWER)
def mark_seen() -> Response:
    """Nothing that happened up to now is new any more."""
    response = redirect(own_path(request.form.get("back", "/")), 303)
    database, caller = current_registry().database, signed_in_user().caller
    now = database.clock()
    if caller is not None and caller.user_id is not None:
        mark_news_seen(database, user_id=caller.user_id)
    else:
        keep_choice(response, _COOKIE, str(int(now.timestamp() * 1e6)))
    current_registry().open_problems.forget()
    return response
