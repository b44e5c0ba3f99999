"""What an application keeps between requests: numbers of open flags, and the last comparisons."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from flask import Flask, current_app

from offdiag.services.flags.page import count_open
from offdiag.services.lru_cache import LruCache
from offdiag.store.database import Database

if TYPE_CHECKING:
    from offdiag.services.compare import Compared

COUNT_KEPT_FOR_S = 5.0
"""A page may show a number this old; whoever settles a flag sees the new one at once."""


MOST_READERS = 100


class OpenFlags:
    """The numbers, read when a page asks and they are older than `KEPT_FOR_S`.

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
            known = self._known[database.projects] = (now, count_open(database))
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


KEY = "offdiag comparisons"
MOST_COMPARISONS = 64


def kept_comparisons() -> LruCache[Compared]:
    """What is kept for the application that is answering."""
    kept = current_app.extensions.setdefault(KEY, LruCache(most=MOST_COMPARISONS))
    return cast("LruCache[Compared]", kept)
