"""What a request works with: the registry as its caller sees it, caches, the current user."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, cast

from flask import Flask, current_app, g, has_request_context

from offdiag.domain.access import Caller, CallerKind, Role, may, may_anywhere
from offdiag.errors import Forbidden
from offdiag.flags.problems import ProblemSummary
from offdiag.services.lru_cache import LruCache
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.problems import unresolved_problems
from offdiag.store.session import Session

if TYPE_CHECKING:
    from offdiag.metrics.paired.confidence_set import BestSet
    from offdiag.services.champions.decision import Facts
    from offdiag.services.champions.drops import RunDrop
    from offdiag.services.compare import Compared
    from offdiag.services.methods.estimates import KnownMoments
    from offdiag.services.samples.suspects import RankedDataset


COUNT_KEPT_FOR_S = 15.0
"""A page may show a number this old; after a decision its author sees the new one at once."""
MOST_READERS = 100


class OpenProblems:
    """Unresolved problems, read when a page asks and they are older than `COUNT_KEPT_FOR_S`.

    Without that every page would need statements of its own, for a number that hardly ever
    changes. Readers who see the same projects share what is read.
    """

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        # Each is one value, so that threads never see a list with the age of another.
        self._known: dict[frozenset[str] | None, tuple[float, list[ProblemSummary]]] = {}
        self._seen: dict[int, tuple[float, datetime]] = {}

    def list(self, database: Database) -> Sequence[ProblemSummary]:
        """Those of the projects that are visible, in the order of lists."""
        known, now = self._known.get(database.projects), self._monotonic()
        if known is None or now - known[0] > COUNT_KEPT_FOR_S:
            self._forget_if_many()
            with database.read() as session:
                found = unresolved_problems(session, now=database.clock())
            known = self._known[database.projects] = (now, found)
        return known[1]

    def count(self, database: Database, since: Callable[[Session], datetime], reader: int) -> int:
        """Problems raised after a moment that `since` reads; the reader 0 has no account."""
        problems, now = self.list(database), self._monotonic()
        seen = self._seen.get(reader) if reader else None
        if seen is None or now - seen[0] > COUNT_KEPT_FOR_S:
            with database.read() as session:
                seen = (now, since(session))
            if reader:
                self._seen[reader] = seen
        return sum(problem.is_new(seen[1]) for problem in problems)

    def forget(self) -> None:
        """Read them again: something was decided, or seen."""
        self._known, self._seen = {}, {}

    def _forget_if_many(self) -> None:
        if max(len(self._known), len(self._seen)) >= MOST_READERS:
            self.forget()


def show_new_problems(
    app: Flask,
    open_problems: OpenProblems,
    database: Callable[[], Database],
    since: Callable[[Session], datetime],
) -> None:
    """Make the number known to the frame of every page, empty where it is 0.

    `database` returns the database as the reader of the page may see it, `since` the moment up
    to which they have seen the news.
    """

    @app.template_global("new_problems")
    def shown() -> str:
        caller = signed_in_user().caller
        reader = 0 if caller is None else caller.user_id or 0
        count = open_problems.count(database(), since, reader)
        return f"{count:,}" if count else ""


COMPARISONS_KEY = "offdiag comparisons"
MOST_COMPARISONS = 64


def recent_comparisons() -> LruCache[Compared]:
    """What is kept for the application that is answering."""
    kept = current_app.extensions.setdefault(COMPARISONS_KEY, LruCache(most=MOST_COMPARISONS))
    return cast("LruCache[Compared]", kept)


BEST_SETS_KEY = "offdiag best sets"
MOST_BEST_SETS = 2_048
"""The first page asks for those of all datasets in turn: with fewer places than datasets it would
find none of them."""


def kept_best_sets() -> LruCache[BestSet | None]:
    """Best sets of datasets that were computed before."""
    kept = current_app.extensions.setdefault(BEST_SETS_KEY, LruCache(most=MOST_BEST_SETS))
    return cast("LruCache[BestSet | None]", kept)


MOMENTS_KEY = "offdiag moments of methods"
MOST_MOMENTS = 256


def kept_moments() -> LruCache[KnownMoments]:
    """What the choice of samples does to the methods of datasets."""
    kept = current_app.extensions.setdefault(MOMENTS_KEY, LruCache(most=MOST_MOMENTS))
    return cast("LruCache[KnownMoments]", kept)


DROPS_KEY = "offdiag drops"


def kept_drops() -> LruCache[tuple[RunDrop, ...]]:
    """Newest runs of datasets that were found worse than one before them."""
    kept = current_app.extensions.setdefault(DROPS_KEY, LruCache(most=MOST_BEST_SETS))
    return cast("LruCache[tuple[RunDrop, ...]]", kept)


DECISIONS_KEY = "offdiag decisions"
MOST_DECISIONS = 64


def kept_decisions() -> LruCache[Facts]:
    """What was compared before for the decisions on datasets."""
    kept = current_app.extensions.setdefault(DECISIONS_KEY, LruCache(most=MOST_DECISIONS))
    return cast("LruCache[Facts]", kept)


SUSPECTS_KEY = "offdiag suspects"
MOST_RANKED_DATASETS = 16


def kept_suspects() -> LruCache[RankedDataset]:
    """Labels of datasets that were ranked before."""
    kept = current_app.extensions.setdefault(SUSPECTS_KEY, LruCache(most=MOST_RANKED_DATASETS))
    return cast("LruCache[RankedDataset]", kept)


@dataclass(frozen=True, slots=True)
class Registry:
    """The one registry an application shows."""

    KEY: ClassVar[str] = "offdiag"

    settings: Settings
    database: Database
    open_problems: OpenProblems


def current_registry() -> Registry:
    """The registry as the sender of the request may see it."""
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
    def may_share(self) -> bool:
        """Whether they may make links to pages for others."""
        allows_links = current_registry().settings.access.share_link_days > 0
        is_person = self.caller is not None and self.caller.kind is CallerKind.USER
        return allows_links and is_person and may_anywhere(self.caller, Role.EDITOR)

    @property
    def may_label(self) -> bool:
        """Whether there are samples whose labels they may propose."""
        return may_anywhere(self.caller, Role.LABELER)

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
