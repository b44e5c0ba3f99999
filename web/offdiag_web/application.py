"""Putting the application together."""

from __future__ import annotations

from pathlib import Path

from flask import Flask, request
from flask.typing import ResponseReturnValue
from jinja2 import BaseLoader, FileSystemLoader, StrictUndefined
from werkzeug.utils import cached_property

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.failures import after_failures
from offdiag_web import health
from offdiag_web.app import (
    assets,
    auth,
    compression,
    context,
    errors,
    last_visit,
    preferences,
    requests,
    security,
)
from offdiag_web.app.context import Registry, current_registry
from offdiag_web.app.lazy_views import LazyViews
from offdiag_web.app.paths import NameConverter, NumberConverter, RunIdConverter
from offdiag_web.routes import ROUTES
from offdiag_web.signing_key import signing_key

_TEMPLATES = [Path(__file__).parent / part for part in ("pages", "components")]
"""A template of a page is named after its folder: `compare/pair.html`."""
_READING = frozenset({"GET", "HEAD"})


class Dashboard(Flask):
    """What only reads is asked for again where the server ended its transaction."""

    @cached_property
    def jinja_loader(self) -> BaseLoader:
        """Finds templates beside the code that uses them."""
        return FileSystemLoader(_TEMPLATES)

    def dispatch_request(self) -> ResponseReturnValue:
        """The answer of the view, which for reading may be called up to four times."""
        if request.method in _READING:
            return after_failures(super().dispatch_request)
        return super().dispatch_request()


_KIB = 1024


def create_app(settings: Settings, database: Database) -> Flask:
    """The dashboard over an open database, as a WSGI application.

    Nothing is read from the environment and no connection is made before the first request.
    Raises `InvalidInput` where there is no usable key for signing forms.
    """
    app = Dashboard("offdiag_web", static_folder=None)
    app.config.update(
        MAX_CONTENT_LENGTH=64 * _KIB,
        MAX_FORM_MEMORY_SIZE=64 * _KIB,
        MAX_FORM_PARTS=50,
    )
    app.json.sort_keys = False  # type: ignore[attr-defined]  # of the default provider
    app.jinja_options = {
        "autoescape": True,
        "trim_blocks": True,
        "lstrip_blocks": True,
        "undefined": StrictUndefined,
    }
    app.url_map.converters["run"] = RunIdConverter
    app.url_map.converters["name"] = NameConverter
    app.url_map.converters["number"] = NumberConverter
    registry = Registry(settings, database, context.OpenProblems())
    app.extensions[Registry.KEY] = registry
    requests.log_requests(app)
    compression.compress_answers(app)
    security.protect(app, settings.server)
    errors.register(app)
    # Before anybody asks what a view needs.
    late = LazyViews(app, ROUTES)
    auth.guard(app, registry)
    security.protect_forms(
        app,
        key=signing_key(settings.server, database),
        # No form of another site can send JSON; `security` refuses what comes from one anyway.
        exempt=(preferences.blueprint, *late.blueprints("offdiag_web.api")),
    )
    app.before_request(security.refuse_nul)
    requests.meter(app, database)
    preferences.register(app)
    context.show_new_problems(
        app,
        registry.open_problems,
        lambda: current_registry().database,
        lambda session: last_visit.news_since(session, now=current_registry().database.clock()),
    )
    for part in (assets, health, preferences, last_visit):
        app.register_blueprint(part.blueprint)
    return app
