"""Creates the Flask application of the dashboard."""

from __future__ import annotations

from flask import Flask
from jinja2 import StrictUndefined

from offdiag.domain.sentences import typeset
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import health
from offdiag_web.app import (
    assets,
    auth,
    errors,
    last_visit,
    parameters,
    preferences,
    requests,
    security,
)
from offdiag_web.app.context import Registry
from offdiag_web.app.dispatch import (
    Dashboard,
    LazyViews,
    NameConverter,
    NumberConverter,
    RunIdConverter,
)
from offdiag_web.components import metric_values, numbers
from offdiag_web.components.controls import moment_of, spell
from offdiag_web.routes import ROUTES
from offdiag_web.signing_key import signing_key
from offdiag_web.urls.query_string import named_project

_KIB = 1024


def create_app(settings: Settings, database: Database) -> Flask:
    """The dashboard for an open database, as a WSGI application.

    The environment is not read, and no connection is made before the first request. Raises
    `InvalidInput` if there is no usable key for signing forms.
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
    app.jinja_env.globals.update(
        metric_values=metric_values,
        moment_of=moment_of,
        named_project=named_project,
        numbers=numbers,
        spell=spell,
    )
    app.jinja_env.filters["typeset"] = typeset
    app.url_map.converters["run"] = RunIdConverter
    app.url_map.converters["name"] = NameConverter
    app.url_map.converters["number"] = NumberConverter
    registry = Registry(settings, database)
    app.extensions[Registry.KEY] = registry
    requests.log_requests(app)
    security.compress_responses(app)
    security.protect(app, settings.server)
    errors.register(app)
    # Before any code asks what a view requires.
    late = LazyViews(app, ROUTES)
    auth.guard(app, registry)
    security.protect_forms(
        app,
        key=signing_key(settings.server, database),
        # No form of another site can send JSON; besides, `security` refuses requests from other
        # sites.
        exempt=(preferences.blueprint, *late.blueprints("offdiag_web.api")),
    )
    app.before_request(security.refuse_nul)
    app.after_request(security.show_direction_marks)
    requests.meter(app, database)
    preferences.register(app)
    last_visit.show_new_problems(app)
    # After the functions that check every request.
    parameters.register(app)
    for part in (assets, health, preferences, last_visit):
        app.register_blueprint(part.blueprint)
    return app
