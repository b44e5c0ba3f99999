"""Names for a shell that waits for them while somebody types."""

from __future__ import annotations

from contextlib import closing

from offdiag.store import search as queries
from offdiag.store.database import Database

_BUSY_S = 0.2
_CONNECT_S = 1


def known_names(url: str, kind: str, prefix: str) -> list[tuple[str, str | None]]:
    """Names of runs, datasets, projects or costs, each with a word about it.

    A registry that is not there is not made, and one that does not answer is not waited for.
    Raises whatever stands in the way.
    """
    if not url.startswith("sqlite") and "connect_timeout" not in url:
        url = f"{url}{'&' if '?' in url else '?'}connect_timeout={_CONNECT_S}"
    with closing(Database(url, busy_timeout_s=_BUSY_S)) as database:
        if database.path is not None and not database.path.exists():
            return []
        with database.read() as session:
            return queries.known_names(session, kind, prefix)
