"""What a request works with: the registry as its caller sees it, caches, the current user."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, cast

from flask import Flask, current_app, g, has_request_context

from offdiag.domain.access import Caller, CallerKind, Role, may, may_anywhere
from offdiag.errors import Forbidden
from offdiag.services.lru_cache import LruCache
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.flag_inbox import count_open_flags

if TYPE_CHECKING:
    from offdiag.metrics.paired.confidence_set import BestSet
    from offdiag.services.champions.decision import Facts
    from offdiag.services.compare import Compared


COUNT_KEPT_FOR_S = 5.0
"""A page may show a number this old; whoever settles a flag sees the new one at once."""
MOST_READERS = 100


class OpenFlags:
    """The numbers, read when a page asks and they are older than `COUNT_KEPT_FOR_S`.

    Without that every page would need one statement more, for a number that hardly ever changes.
    Readers who see the same projects see the same number.
    """

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        # Each is one value, so that threads never see a number with the age of another.
        self._known: dict[frozenset[str] | None, tuple[float, int]] = {}

    def count(self, database: Database) -> int:
        """Open flags that a database shows, at most as many as are counted."""
        known, now = self._known.get(database.projects), self._monotonic()
        if known is None or now - known[0] > COUNT_KEPT_FOR_S:
            if len(self._known) >= MOST_READERS:
                self._known = {}
            with database.read() as session:
                n_open = count_open_flags(session, database.clock())
            known = self._known[database.projects] = (now, n_open)
        return known[1]

    def forget(self) -> None:
        """Something was settled."""
        self._known = {}


def show_open_flags(
    app: Flask,
    open_flags: OpenFlags,
    database: Callable[[], Database],
    *,
    text: Callable[[int], str],
) -> None:
    """Make the number known to the frame of every page as `text` of it, empty where it is 0.

    `database` is asked for the database as whoever reads the page may see it.
    """

    @app.template_global("open_flags")
    def shown() -> str:
        count = open_flags.count(database())
        return text(count) if count else ""


COMPARISONS_KEY = "offdiag comparisons"
MOST_COMPARISONS = 64


def recent_comparisons() -> LruCache[Compared]:
    """What is kept for the application that is answering."""
    kept = current_app.extensions.setdefault(COMPARISONS_KEY, LruCache(most=MOST_COMPARISONS))
    return cast("LruCache[Compared]", kept)


BEST_SETS_KEY = "offdiag best sets"
MOST_BEST_SETS = 256


def kept_best_sets() -> LruCache[BestSet | None]:
    """Best sets of datasets that were computed before."""
    kept = current_app.extensions.setdefault(BEST_SETS_KEY, LruCache(most=MOST_BEST_SETS))
    return cast("LruCache[BestSet | None]", kept)


DECISIONS_KEY = "offdiag decisions"
MOST_DECISIONS = 64


def kept_decisions() -> LruCache[Facts]:
    """What was compared before for the decisions on datasets."""
    kept = current_app.extensions.setdefault(DECISIONS_KEY, LruCache(most=MOST_DECISIONS))
    return cast("LruCache[Facts]", kept)


@dataclass(frozen=True, slots=True)
class Registry:
    """The one registry an application shows."""

    KEY: ClassVar[str] = "offdiag"

    settings: Settings
    database: Database
    open_flags: OpenFlags


def current_registry() -> Registry:
    """The registry as whoever sends the request may see it."""
    return cast(Registry, g.get("registry") or current_app.extensions[Registry.KEY])


def narrow_registry(database: Database) -> None:
    """Let the rest of a request see no more than `database`."""
    g.registry = replace(current_registry(), database=database)


@dataclass(frozen=True, slots=True)
class CurrentUser:
    """The user of a request, for templates and pages; `caller` is None if not signed in."""

    caller: Caller | None

    @property
    def may_look(self) -> bool:
        """Whether there is anything they may see."""
        return may_anywhere(self.caller, Role.VIEWER)

    @property
    def is_signed_in(self) -> bool:
        """Whether they gave a name and a proof of it."""
        return self.caller is not None and self.caller.kind is not CallerKind.LOCAL

    @property
    def name(self) -> str:
        return "" if self.caller is None else self.caller.name

    @property
    def manages_users(self) -> bool:
        return self.is_signed_in and may(self.caller, Role.ADMIN, None)

    @property
    def reads_audit(self) -> bool:
        return may_anywhere(self.caller, Role.ADMIN)


def signed_in_user() -> CurrentUser:
    """The user of this request; no one before authentication and outside of requests."""
    if not has_request_context():
        return CurrentUser(None)
    return cast(CurrentUser, g.get("current_user") or CurrentUser(None))


def signed_in() -> Caller:
    """The caller who is signed in. Raises `Forbidden` where no sign-in is required."""
    caller = signed_in_user().caller
    if caller is None or caller.user_id is None:
        raise Forbidden(
            "sign-in is not required here.",
            hint="offdiag user and offdiag token do what this page does.",
        )
    return caller
