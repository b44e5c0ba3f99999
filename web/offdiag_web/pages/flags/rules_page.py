"""The rules of flags with their thresholds, and how often each flag is raised."""

from __future__ import annotations

from dataclasses import asdict, astuple

from flask import Blueprint, jsonify, make_response, render_template
from werkzeug.wrappers import Response

from offdiag.metrics.catalogue import SPECS
from offdiag.services.flags.rules import RulesOverview, browse_rules, rules_in
from offdiag.settings.load import describe_settings
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT
from offdiag_web.app.exports import Cell, csv_response
from offdiag_web.components import numbers
from offdiag_web.components.flags import severity_mark
from offdiag_web.urls.flags import ProblemsAddress
from offdiag_web.urls.metrics import MetricAddress

RULE_COLUMNS = (
    *("rule", "title", "version", "mildest", "gravest", "about"),
    *("threshold", "meaning", "value", "default", "source"),
)
_TITLES = {spec.key: spec.title for spec in SPECS}


def rules_view(overview: RulesOverview) -> str:
    """The page as HTML."""
    n_others = overview.n_judged_by_others
    verb = "was" if n_others == 1 else "were"
    changed = {
        each.name
        for rule in overview.rules
        for each in rule.thresholds
        if each.value != each.default
    }
    return render_template(
        "flags/rules.html",
        rules=[
            (
                each,
                [(_TITLES[key], MetricAddress(key).url()) for key in each.rule.metrics],
                ProblemsAddress(rule=each.rule.id).url(),
            )
            for each in overview.rules
        ],
        severity_mark=severity_mark,
        n_changed=len(changed),
        outdated=f"{numbers.plural(n_others, 'run')} {verb} evaluated with other rules or "
        "thresholds; a worker will re-evaluate them soon."
        if n_others
        else None,
    )


def rules_record(overview: RulesOverview) -> dict[str, object]:
    """The rules with their thresholds, ready for JSON."""
    return {
        "digest": overview.digest,
        "runs_judged_by_others": overview.n_judged_by_others,
        "rules": [
            {
                "id": each.rule.id,
                "title": each.rule.title,
                "version": each.rule.version,
                "mildest": each.rule.lowest_severity.value,
                "gravest": each.rule.highest_severity.value,
                "per_class": each.rule.per_class,
                "help": each.rule.help,
                "changes": list(each.rule.changes),
                "metrics": list(each.rule.metrics),
                "thresholds": list(map(asdict, each.thresholds)),
            }
            for each in overview.rules
        ],
    }


def rule_rows(overview: RulesOverview) -> list[tuple[Cell, ...]]:
    """One line for each threshold of each rule, in the order of `RULE_COLUMNS`."""
    return [
        (
            each.rule.id,
            each.rule.title,
            each.rule.version,
            each.rule.lowest_severity.value,
            each.rule.highest_severity.value,
            "each class" if each.rule.per_class else "the run",
            *cells,
        )
        for each in overview.rules
        for cells in [*map(astuple, each.thresholds)] or [(None,) * 5]
    ]


blueprint = Blueprint("rules", __name__)


@blueprint.get("/settings/rules")
def page() -> Response:
    return make_response(rules_view(_overview()))


@blueprint.get(f"/settings/rules{DATA_FORMAT}")
def export(form: str) -> Response:
    overview = _overview()
    if form == "json":
        return jsonify(rules_record(overview))
    return csv_response("rules", RULE_COLUMNS, rule_rows(overview))


def _overview() -> RulesOverview:
    registry = current_registry()
    in_force = rules_in(registry.settings)
    return browse_rules(registry.database, in_force, describe_settings())
