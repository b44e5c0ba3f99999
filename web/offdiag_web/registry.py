"""What handlers work on: the settings and the database the application was created with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

from flask import current_app

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
    """The registry of the application that is answering."""
    return cast(Registry, current_app.extensions[Registry.KEY])
