"""The what-if page: prices that can be changed, and what becomes of runs when they are."""

from __future__ import annotations

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.records.cost import RANKING_COLUMNS, CostsOfRunsAt, costs_of_runs, ranking_row
from offdiag.services.cost_matrices import add_costs
from offdiag.services.what_if.costs import ask
from offdiag.services.what_if.scenario import newest_run_ids, read_base, understand
from offdiag.store.dataset_page import dataset_overview, dataset_size
from offdiag.store.datasets import DatasetRecord, single_label_task
from offdiag.store.run_costs import RunWithCosts
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import SENT_BY_FORM, TWIN, requested_project
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.components.datasets import DatasetFrame, dataset_frame
from offdiag_web.pages.what_if.threshold import threshold_card
from offdiag_web.pages.what_if.view import start_view, what_if_view
from offdiag_web.urls.what_if import WhatIfAddress, asked_by_form, read_what_if

blueprint = Blueprint("what_if", __name__)

MANY_CLASSES, FEWER_RUNS = 30, 4
"""The counts of many classes are sent with the page, so it starts with fewer runs of them."""


@blueprint.get("/whatif")
def page() -> Response:
    address = read_what_if(request.args)
    if not address.runs:
        return _start(address)
    if SENT_BY_FORM in request.args or "add" in request.args or address.question.costs is None:
        return redirect(_canonical(address).url())
    found = ask(current_registry().database, address.runs, address.question)
    view = what_if_view(found, address, run_url=_run_url)
    threshold = threshold_card(current_registry().database, found)
    frame = _frame(found.frame.runs[0])
    return make_response(
        render_template("what_if/page.html", view=view, threshold=threshold, dataset=frame)
    )


@blueprint.get(f"/whatif{TWIN}")
def twin(form: str) -> Response:
    address = read_what_if(request.args)
    found = costs_of_runs(ask(current_registry().database, address.runs, address.question))
    if form == "json":
        return json_response(CostsOfRunsAt(**dict(found), url=address.url()))
    return csv_response("what-if", RANKING_COLUMNS, map(ranking_row, found.runs))


@blueprint.post("/whatif")
def save() -> Response:
    """Save the changed costs as a new version and ask the same question under it."""
    database = current_registry().database
    address = read_what_if(request.form)
    run, base = read_base(database, address.runs, address.question.costs)
    scenario = understand(address.question, base, [run.matrix])
    record = add_costs(
        database,
        project=run.project,
        dataset=run.dataset,
        name=request.form.get("name", "").strip(),
        weights=scenario.costs.weights,
        currency=scenario.costs.currency,
        note=request.form.get("note", "").strip() or None,
        author=request.form.get("author", "").strip() or None,
    )
    saved = address.asking(costs=f"{record.name}@{record.version}", edits="")
    return redirect(saved.url(), 303)


def _start(address: WhatIfAddress) -> Response:
    """Let a dataset be chosen, and show its newest runs."""
    database = current_registry().database
    dataset = request.args.get("dataset")
    if dataset:
        runs = newest_run_ids(database, project=requested_project(), dataset=dataset)
        if runs:
            first, _ = read_base(database, runs, address.question.costs)
            few = runs[:FEWER_RUNS] if first.matrix.n_classes > MANY_CLASSES else runs
            return redirect(_canonical(address.of_runs(few)).url())
    with database.read() as session:
        view = start_view(dataset_overview(session), address, without_runs=dataset)
    return make_response(render_template("what_if/start.html", view=view))


def _canonical(address: WhatIfAddress) -> WhatIfAddress:
    added = read_what_if({"runs": request.args.get("add", "")}).runs
    runs = tuple(dict.fromkeys((*address.runs, *added)))
    _, base = read_base(current_registry().database, runs, address.question.costs)
    return asked_by_form(request.args, base).of_runs(runs)


def _frame(run: RunWithCosts) -> DatasetFrame:
    """The head of the dataset of a run, whose labels need not be read once more."""
    labels = run.matrix.labels
    dataset = DatasetRecord(
        id=run.dataset_id,
        project_id=run.project_id,
        project=run.project,
        name=run.dataset,
        task=single_label_task(labels),
        labels=labels,
        labels_inferred=labels.inferred,
        positive_label=run.positive_label,
    )
    with current_registry().database.read() as session:
        return dataset_frame(dataset, dataset_size(session, dataset.id), current="costs")


def _run_url(run_id: str) -> str:
    return url_for("run_matrix.page", run_id=run_id)
