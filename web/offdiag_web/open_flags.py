"""How many flags are open, for the navigation of every page."""

from __future__ import annotations

import time
from collections.abc import Callable

from flask import Flask

from offdiag.services.flags.inbox import count_open
from offdiag.store.database import Database
from offdiag_web.presenters.flags.words import counted

KEPT_FOR_S = 5.0
"""A page may show a number this old; whoever settles a flag sees the new one at once."""


class OpenFlags:
    """The number, read when a page asks and it is older than `KEPT_FOR_S`.

    Without that every page would need one statement more, for a number that hardly ever changes.
    """

    def __init__(
        self, database: Database, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._monotonic = monotonic
        # One value, so that threads never see a number with the age of another.
        self._known: tuple[float, int] | None = None

    def count(self) -> int:
        """Open flags, at most as many as are counted."""
        known, now = self._known, self._monotonic()
        if known is None or now - known[0] > KEPT_FOR_S:
            known = self._known = (now, count_open(self._database))
        return known[1]

    def forget(self) -> None:
        """Something was settled."""
        self._known = None


def register(app: Flask, open_flags: OpenFlags) -> None:
    """Make the number known to the frame of every page, empty where there is none."""

    @app.template_global("open_flags")
    def shown() -> str:
        count = open_flags.count()
        return counted(count) if count else ""
