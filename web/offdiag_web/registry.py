"""What handlers work on: the settings and the database the application was created with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, cast

from flask import current_app, g

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web.open_flags import OpenFlags


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
