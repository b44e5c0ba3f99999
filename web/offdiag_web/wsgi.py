"""The dashboard for servers of WSGI applications: `offdiag_web.wsgi:application()`."""

from __future__ import annotations

import gc

from flask import Flask

from offdiag.errors import InvalidInput
from offdiag.logs import log_to_stderr
from offdiag.settings import load_settings
from offdiag.store.schema import open_database
from offdiag.store.users import has_admin
from offdiag_web.app.lazy_views import lazy_views
from offdiag_web.app.limits import admitting
from offdiag_web.application import create_app


def settle() -> None:
    """Let the garbage collector pass by everything that is there now; for programs that serve."""
    gc.collect()
    gc.freeze()


def application() -> Flask:
    """The dashboard over the configured registry, where everybody signs in.

    Which address is listened on is up to the server, so nobody is taken for the one user of a
    machine. Work is done by `offdiag worker`.

    Raises `InvalidInput` where there is no admin yet, or no key for signing forms, and
    `SchemaMismatch` for a database that is not up to date.
    """
    settings = load_settings()
    log_to_stderr(settings.log.level, settings.log.format)
    access = settings.access.model_copy(update={"auth": "required"})
    settings = settings.model_copy(update={"access": access})
    database = open_database(settings.database.url)
    with database.read() as session:
        is_managed = has_admin(session)
    if not is_managed:
        database.close()
        raise InvalidInput(
            "everybody has to sign in, and there is no admin who could.",
            field="access.auth",
            hint="Make one: offdiag user add NAME --role admin",
        )
    app = admitting(create_app(settings, database), settings.server)
    # Servers that start several processes let them share what was loaded before.
    lazy_views(app).load_all()
    settle()
    return app
