"""The page of what the scores of a run would decide with costs, and saving that as a run."""

from __future__ import annotations

import math
from dataclasses import replace

from flask import Blueprint, make_response, redirect, request, url_for
from werkzeug.wrappers import Response

from offdiag.domain.number_text import read_number
from offdiag.errors import InvalidInput, NotFound
from offdiag.records.decision import decisions_at, decisions_table
from offdiag.services.decisions.rules import (
    Choice,
    Chosen,
    Decisions,
    decisions_of,
    requested_cost_basis,
    save_choice,
)
from offdiag.services.what_if.runs import read_base
from offdiag.store.project_access import project_of_run
from offdiag_web.app.context import current_registry, name_project
from offdiag_web.app.dispatch import DATA_FORMAT, SENT_BY_FORM
from offdiag_web.app.errors import sentence_of
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.parameters import refuse_unread
from offdiag_web.app.preferences import form_author
from offdiag_web.pages.decisions.view import decisions_view
from offdiag_web.urls.costs import WhatIfAddress, asked_by_form, read_what_if
from offdiag_web.urls.run import run_url

blueprint = Blueprint("decisions", __name__)

_PATH = "/whatif/decisions"
_KEY = "run"


@blueprint.get(_PATH)
def page() -> Response:
    if not request.args.get(_KEY):
        # Runs are selected there, and each of them links to this page.
        return redirect(url_for("what_if.page"))
    address, run_id = _asked()
    if SENT_BY_FORM in request.args or address.question.costs is None:
        return redirect(_canonical(address, run_id).decisions_url(run_id))
    return make_response(decisions_view(_found(address, run_id), address, {}))


@blueprint.get(f"{_PATH}{DATA_FORMAT}")
def export(form: str) -> Response:
    address, run_id = _asked()
    refuse_unread()
    found = _found(address, run_id)
    if form == "json":
        return json_response(decisions_at(found, url=address.decisions_url(found.run.id)))
    columns, rows = decisions_table(found)
    return csv_response(f"{run_id}-decisions", columns, rows)


@blueprint.post(_PATH)
def save() -> Response:
    """Save the predictions of the chosen rule as a run; repeating it returns the same run."""
    database = current_registry().database
    address = read_what_if(request.form, key=_KEY)
    run_id = _only_run(address)
    with database.read() as session:
        for project in project_of_run(session, run_id):
            name_project(project)
    try:
        run = save_choice(
            current_registry().database,
            run_id,
            requested_cost_basis(database, run_id, address.question),
            _choice(address),
            name=request.form.get("name", "").strip(),
            author=form_author(),
        )
    except InvalidInput as error:
        found, refusal = _found(address, run_id), f"Nothing was saved. {sentence_of(error)}"
        return make_response(decisions_view(found, address, request.form, refusal), 400)
    return redirect(run_url(run.id), 303)


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
    chosen, text = Chosen(given), request.form.get("threshold", "").strip()
    if chosen is Chosen.STATED:
        return Choice(chosen, _threshold(text), positive)
    if text:
        raise InvalidInput(
            f"the threshold {text[:20]} was entered, but another rule is selected.",
            field="threshold",
            hint="Select “another threshold”, or clear the field.",
        )
    return Choice(chosen, None, positive)


def _threshold(text: str) -> float:
    try:
        number = read_number(text.replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(
            f"{text!r} is not a threshold." if text else "no threshold was entered.",
            field="threshold",
            hint="Enter a number such as 0.2.",
        )
    return number
