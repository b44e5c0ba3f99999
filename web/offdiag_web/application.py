"""Putting the application together."""

from __future__ import annotations

from flask import Flask
from jinja2 import StrictUndefined

from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import api
from offdiag_web.app import assets, auth, caches, errors, health, preferences, requests, security
from offdiag_web.app.context import Registry, current_registry
from offdiag_web.app.paths import NameConverter, RunIdConverter
from offdiag_web.app.signing_key import signing_key
from offdiag_web.dashboard import Dashboard
from offdiag_web.pages import (
    account,
    audit,
    audit_log,
    compare,
    cost_form,
    costs,
    datasets,
    decisions,
    finding,
    flag,
    flags,
    glossary,
    home,
    jobs,
    matrix_files,
    models,
    openid,
    report_form,
    report_issue,
    reports,
    rules,
    run_advice,
    run_baseline,
    run_classes,
    run_curves,
    run_examples,
    run_history,
    run_matrix,
    run_meta,
    runs,
    settings_overview,
    signing_in,
    tokens,
    truth_difference,
    truth_impact,
    users,
    views,
    what_if,
)
from offdiag_web.presenters.flags.words import counted

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
    registry = Registry(settings, database, caches.OpenFlags())
    app.extensions[Registry.KEY] = registry
    requests.log_requests(app)
    security.protect(app, settings.server)
    errors.register(app)
    auth.guard(app, registry)
    security.protect_forms(
        app,
        key=signing_key(settings.server, database),
        # No form of another site can send JSON; `security` refuses what comes from one anyway.
        exempt=(preferences.blueprint, *api.BLUEPRINTS),
    )
    api.register(app)
    requests.meter(app, database)
    preferences.register(app)
    caches.show_open_flags(
        app, registry.open_flags, lambda: current_registry().database, text=counted
    )
    for blueprint in (
        assets.blueprint,
        home.blueprint,
        runs.blueprint,
        compare.blueprint,
        flags.blueprint,
        flag.blueprint,
        rules.blueprint,
        datasets.blueprint,
        truth_difference.blueprint,
        truth_impact.blueprint,
        reports.blueprint,
        report_form.blueprint,
        report_issue.blueprint,
        cost_form.blueprint,
        costs.blueprint,
        what_if.blueprint,
        decisions.blueprint,
        audit.blueprint,
        jobs.blueprint,
        run_matrix.blueprint,
        matrix_files.blueprint,
        run_baseline.blueprint,
        run_classes.blueprint,
        run_advice.blueprint,
        run_curves.blueprint,
        run_examples.blueprint,
        run_history.blueprint,
        run_meta.blueprint,
        preferences.blueprint,
        health.blueprint,
        finding.blueprint,
        models.blueprint,
        views.blueprint,
        settings_overview.blueprint,
        signing_in.blueprint,
        openid.blueprint,
        account.blueprint,
        tokens.blueprint,
        users.blueprint,
        audit_log.blueprint,
        glossary.blueprint,
    ):
        app.register_blueprint(blueprint)
    return app
