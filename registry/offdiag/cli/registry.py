"""The registry a verb works on, open while it works."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.schema import open_database


@contextmanager
def opened(
    settings: Settings, *, synchronous: Literal["full", "normal"] = "full"
) -> Iterator[Database]:
    """The configured registry; an embedded one is created or upgraded on the way."""
    database = open_database(settings.database.url, synchronous=synchronous)
    try:
        yield database
    finally:
        database.close()
