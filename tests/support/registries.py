"""Registries that several tests read, and the dashboard over one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from flask import Flask

from offdiag.settings import ServerSettings, Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from support.gallery import pages as gallery
from support.once_for_all import Filled
from support.pages import PageClient, client_for
from support.quick_apps import LentApp, remember_templates

remember_templates()

FORMS_KEY = "0123456789abcdef" * 4
"""On PostgreSQL there is no folder that a key could lie in."""


def copy_open_file(original: Path, copy: Path) -> Path:
    """A file that the SDK of this process keeps open, whole; a copy of bytes would be torn."""
    with closing(sqlite3.connect(original)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy


def serving(**settings: object) -> ServerSettings:
    """Settings of a server over any kind of database."""
    return ServerSettings.model_validate({"secret_key": FORMS_KEY, **settings})


def dashboard(database: Database) -> Flask:
    """The dashboard over a database, with the gallery; errors of handlers reach the test."""
    application = create_app(Settings(server=serving()), database)
    application.testing = True
    application.register_blueprint(gallery.blueprint)
    return application


def names_of(registry: Filled) -> dict[str, str]:
    """Ids of runs by what they are."""
    return {name: value for name, value in vars(registry).items() if isinstance(value, str)}


def reader_of(registry: Filled, **more: str) -> PageClient:
    """A client of the dashboard over a registry, which knows its things by their names."""
    return client_for(dashboard(registry.database), **names_of(registry), **more)


LENT = LentApp(dashboard)
"""The dashboard, over the database of one test after the other."""
