"""The rules in force, their thresholds, and where these come from."""

from __future__ import annotations

from flask import Blueprint, jsonify, make_response, render_template
from werkzeug.wrappers import Response

from offdiag.services.flags.rules import RulesOverview, browse_rules
from offdiag.services.flags.settings import RulesInForce, thresholds_in
from offdiag.settings.load import describe_settings
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response
from offdiag_web.app.paths import TWIN
from offdiag_web.presenters.flags.rules import RULE_COLUMNS, rule_rows, rules_record, rules_view

blueprint = Blueprint("rules", __name__)


@blueprint.get("/settings/rules")
def page() -> Response:
    return make_response(render_template("rules.html", view=rules_view(_overview())))


@blueprint.get(f"/settings/rules{TWIN}")
def twin(form: str) -> Response:
    overview = _overview()
    if form == "json":
        return jsonify(rules_record(overview))
    return csv_response("rules", RULE_COLUMNS, rule_rows(overview))


def _overview() -> RulesOverview:
    registry = current_registry()
    in_force = RulesInForce(thresholds_in(registry.settings.flags))
    return browse_rules(registry.database, in_force, describe_settings())
