"""What the errors of a multi-label run cost, for any costs of its labels."""

from __future__ import annotations

from flask import Blueprint, redirect, request
from werkzeug.wrappers import Response

from offdiag.domain.runs import Task
from offdiag.errors import InvalidInput, NotFound
from offdiag.metrics.costs.edits import cost_text
from offdiag.records.runs.multilabel import (
    LabelCostsFound,
    LabelCostsRequest,
    asked_label_costs,
    costs_of_text,
    costs_of_texts,
    label_cost_lines,
    label_cost_texts,
)
from offdiag_web.app.context import current_registry
from offdiag_web.app.errors import sentence_of
from offdiag_web.app.exports import json_response
from offdiag_web.app.parameters import refuse_unread
from offdiag_web.components.runs.frame import RUN, run_page, stored_run
from offdiag_web.urls.costs import WhatIfAddress

blueprint = Blueprint("run_label_costs", __name__)


@blueprint.get(f"{RUN}/label-costs")
def page(run_id: str) -> Response:
    detail, notices = stored_run(run_id), []
    if detail.run.task is not Task.MULTILABEL:
        # Costs of single-label errors are on another page.
        return redirect(WhatIfAddress(runs=(run_id,)).url())
    found = None
    if detail.results is not None:
        try:
            found = _found(run_id)
        except (InvalidInput, NotFound) as error:
            notices = [sentence_of(error)]
            found = asked_label_costs(current_registry().database, run_id, LabelCostsRequest())
    return run_page(
        "run_label_costs/page.html",
        detail,
        "label_costs",
        found=found,
        lines=[] if found is None else label_cost_lines(found),
        texts_of=label_cost_texts,
        cost_text=cost_text,
        costs=request.args.get("costs", ""),
        others=request.args.get("others", "1:1"),
        baseline=request.args.get("baseline", ""),
        notices=notices,
    )


@blueprint.get(f"{RUN}/label-costs.json")
def costs_json(run_id: str) -> Response:
    return json_response(_found(run_id))


def _found(run_id: str) -> LabelCostsFound:
    texts = [each for each in request.args.get("costs", "").split(",") if each.strip()]
    asked = LabelCostsRequest(
        costs=costs_of_texts(texts),
        others=costs_of_text(request.args.get("others") or "1:1"),
        baseline=request.args.get("baseline") or None,
    )
    refuse_unread()
    return asked_label_costs(current_registry().database, run_id, asked)
