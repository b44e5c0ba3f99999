"""The reader's preferences, and versions and database of the server."""

from __future__ import annotations

from flask import Blueprint, make_response, render_template
from werkzeug.wrappers import Response

from offdiag.metrics.suite import SUITE_VERSION
from offdiag.settings.load import hide_password
from offdiag.version import offdiag_version
from offdiag_web.app.context import current_registry, signed_in_user
from offdiag_web.app.preferences import THEMES

blueprint = Blueprint("settings", __name__)


@blueprint.get("/settings")
def page() -> Response:
    registry = current_registry()
    facts: tuple[tuple[str, str], ...] = (
        ("offdiag", offdiag_version()),
        ("Metric suite", f"version {SUITE_VERSION}"),
    )
    if not signed_in_user().is_signed_in or signed_in_user().manages_users:
        # Only those who manage users may know where the server keeps its data.
        facts = (*facts, ("Database", hide_password(registry.database.url)))
    return make_response(render_template("settings/page.html", themes=THEMES, facts=facts))
