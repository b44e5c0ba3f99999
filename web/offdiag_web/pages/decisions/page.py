"""What the scores of a run would decide under costs, and keeping that as a run."""

from __future__ import annotations

import math
from dataclasses import replace

from flask import Blueprint, jsonify, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.errors import InvalidInput, NotFound
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.services.decisions.rules import (
    Choice,
    Chosen,
    Decisions,
    decisions_of,
    requested_cost_basis,
    save_choice,
)
from offdiag.services.decisions.thresholds import Change, ClassChange, CostPoint, ThresholdCosts
from offdiag.services.what_if.scenario import read_base
from offdiag_web.app.context import current_registry, signed_in_user
from offdiag_web.app.exports import Cell, csv_response
from offdiag_web.app.paths import SENT_BY_FORM, TWIN
from offdiag_web.pages.decisions.view import decisions_view
from offdiag_web.urls.what_if import WhatIfAddress, asked_by_form, read_what_if

THRESHOLD_COLUMNS = (
    *("threshold", "flagged", "true_positives", "false_positives", "missed", "mean_cost"),
)
PREDICTION_COLUMNS = (*("actual", "before", "after", "count", "cost_before", "cost_after"),)


def decisions_table(found: Decisions) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Columns and lines: every kept threshold, or every kind of answer before and after."""
    if found.thresholds is not None:
        return THRESHOLD_COLUMNS, _threshold_rows(found.thresholds)
    if found.change is not None:
        return PREDICTION_COLUMNS, _prediction_rows(found.change, found.scenario.effective)
    return THRESHOLD_COLUMNS, []


def decisions_record(found: Decisions, address: WhatIfAddress) -> dict[str, object]:
    """The whole answer as one JSON document."""
    scenario, run = found.scenario, found.run
    names = scenario.costs.labels.names
    return {
        "url": address.decisions_url(run.id),
        "run": run.id,
        "name": run.name,
        "dataset": run.dataset,
        "project": run.project,
        "labels": list(names),
        "costs": scenario.base.reference,
        "set": scenario.edits.text(scenario.costs.labels),
        "currency": scenario.costs.currency,
        "weights": {
            actual: dict(zip(names, row, strict=True))
            for actual, row in zip(names, scenario.effective.weights.tolist(), strict=True)
        },
        "prevalence": None
        if scenario.prevalence is None
        else dict(zip(names, scenario.prevalence.tolist(), strict=True)),
        "ignored": list(scenario.problems),
        "missing": None if found.missing is None else found.missing.value,
        "problem": found.problem,
        "thresholds": None
        if found.thresholds is None
        else _thresholds(found.thresholds, names[found.thresholds.positive]),
        "change": None if found.change is None else change_record(found.change),
        "derived": [{"id": each.id, "name": each.name} for each in found.derived],
    }


def change_record(change: Change) -> dict[str, object]:
    """What other answers change, as plain values."""
    return {
        "mean_cost_before": change.before.to_dict(),
        "mean_cost_after": change.after.to_dict(),
        "difference": change.difference.to_dict(),
        "matrix_before": change.joint.first_matrix.counts.tolist(),
        "matrix_after": change.joint.second_matrix.counts.tolist(),
        "recall": [_class_record(each) for each in change.classes],
    }


def _class_record(change: ClassChange) -> dict[str, object]:
    return {
        "label": change.label,
        "support": change.support,
        "before": change.before.to_dict(),
        "after": change.after.to_dict(),
        "difference": change.difference.to_dict(),
        "simultaneous_interval": change.simultaneous_record,
        "is_significant": change.is_significant,
    }


def _thresholds(found: ThresholdCosts, positive: str) -> dict[str, object]:
    return {
        "positive": positive,
        "are_probabilities": found.are_probabilities,
        "cheapest": None if found.best is None else _point(found, found.best),
        "crossfitted_mean_cost": found.crossfitted,
        "in_use": {
            "threshold": None
            if found.in_use_place is None
            else _finite(float(found.points.thresholds[found.in_use_place])),
            "mean_cost": found.in_use.to_dict(),
        },
        "implied": {
            "threshold": found.implied,
            "mean_cost": None if found.at_implied is None else found.at_implied.cost.to_dict(),
        },
        "flag_nothing_mean_cost": _finite(found.nothing),
        "flag_everything_mean_cost": _finite(found.everything),
        "change": None if found.change is None else change_record(found.change),
        "points": [
            dict(zip(THRESHOLD_COLUMNS, row, strict=True)) for row in _threshold_rows(found)
        ],
    }


def _point(found: ThresholdCosts, point: CostPoint) -> dict[str, object]:
    return {
        "threshold": None
        if point.place == 0
        else _finite(float(found.points.thresholds[point.place])),
        "flags_nothing": point.place == 0,
        "mean_cost": point.cost.to_dict(),
    }


def _threshold_rows(found: ThresholdCosts) -> list[tuple[Cell, ...]]:
    points = found.points
    columns = zip(
        points.thresholds.tolist(),
        points.reported.tolist(),
        points.true_positives.tolist(),
        points.false_positives.tolist(),
        found.means.tolist(),
        strict=True,
    )
    return [
        (_finite(threshold), flagged, hits, alarms, points.n_positive - hits, _finite(cost))
        for threshold, flagged, hits, alarms, cost in columns
    ]


def _prediction_rows(change: Change, costs: CostMatrix) -> list[tuple[Cell, ...]]:
    joint, names = change.joint, costs.labels.names
    triples = zip(
        joint.actual.tolist(),
        joint.first.tolist(),
        joint.second.tolist(),
        joint.counts.tolist(),
        strict=True,
    )
    return [
        (
            names[actual],
            names[before],
            names[after],
            count,
            float(costs.weights[actual, before]),
            float(costs.weights[actual, after]),
        )
        for actual, before, after, count in triples
    ]


def _finite(number: float) -> float | None:
    """A number that JSON and CSV can hold."""
    return number if math.isfinite(number) else None


blueprint = Blueprint("decisions", __name__)

_PATH = "/whatif/decisions"
_KEY = "run"


@blueprint.get(_PATH)
def page() -> Response:
    address, run_id = _asked()
    if SENT_BY_FORM in request.args or address.question.costs is None:
        return redirect(_canonical(address, run_id).decisions_url(run_id))
    view = decisions_view(_found(address, run_id), address, run_url=_run_url)
    return make_response(render_template("decisions/page.html", view=view))


@blueprint.get(f"{_PATH}{TWIN}")
def twin(form: str) -> Response:
    address, run_id = _asked()
    found = _found(address, run_id)
    if form == "json":
        return jsonify(decisions_record(found, address))
    columns, rows = decisions_table(found)
    return csv_response(f"{run_id}-decisions", columns, rows)


@blueprint.post(_PATH)
def save() -> Response:
    """Keep what the chosen rule answers as a run; asked again, it is the same run."""
    database = current_registry().database
    address = read_what_if(request.form, key=_KEY)
    run_id = _only_run(address)
    cost_basis = requested_cost_basis(database, run_id, address.question)
    run = save_choice(
        database,
        run_id,
        cost_basis,
        _choice(address),
        name=request.form.get("name", "").strip(),
        author=_author(),
    )
    return redirect(_run_url(run.id), 303)


def _author() -> str | None:
    """Whoever signed in, by no other name; else the name that was typed, if any."""
    if signed_in_user().is_signed_in:
        return signed_in_user().name
    return request.form.get("author", "").strip() or None


def _asked() -> tuple[WhatIfAddress, str]:
    address = read_what_if(request.args, key=_KEY)
    return address, _only_run(address)


def _only_run(address: WhatIfAddress) -> str:
    if not address.runs:
        raise NotFound(
            "no run is named.",
            field="run",
            hint="Open this page from a run, its curves, or the what-if page.",
        )
    return address.runs[0]


def _canonical(address: WhatIfAddress, run_id: str) -> WhatIfAddress:
    _, base = read_base(current_registry().database, (run_id,), address.question.costs)
    return replace(asked_by_form(request.args, base), runs=(run_id,))


def _found(address: WhatIfAddress, run_id: str) -> Decisions:
    return decisions_of(
        current_registry().database,
        run_id,
        address.question,
        positive=address.positive or None,
    )


def _choice(address: WhatIfAddress) -> Choice:
    positive = address.positive or None
    given = request.form.get("rule", Chosen.EXPECTED.value)
    if given not in {chosen.value for chosen in Chosen}:
        raise InvalidInput(
            f"there is no rule {given!r}.",
            field="rule",
            hint=f"Choose one of {', '.join(Chosen)}.",
        )
    chosen = Chosen(given)
    threshold = None
    if chosen is Chosen.STATED:
        threshold = _threshold(request.form.get("threshold", ""))
    return Choice(chosen, threshold, positive)


def _threshold(text: str) -> float:
    typed = text.strip().replace("\N{MINUS SIGN}", "-")
    try:
        number = float(typed)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(
            f"{text.strip()!r} is no threshold.",
            field="threshold",
            hint="Go back and type a number such as 0.2.",
        )
    return number


def _run_url(run_id: str) -> str:
    return url_for("run_matrix.page", run_id=run_id)
