"""The what-if page: change costs and class shares, and see what runs would cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flask import Blueprint, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.runs import RunState, Task, not_ranked_text
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.metrics.costs.edits import cost_text
from offdiag.records.what_if import RANKING_COLUMNS, CostsOfRunsAt, costs_of_runs, ranking_row
from offdiag.services.cost_matrices import add_costs
from offdiag.services.what_if.costs import WhatIf, ask
from offdiag.services.what_if.runs import MOST_RUNS, read_base, runs_to_start_with
from offdiag.services.what_if.scenario import understand
from offdiag.store.dataset_page import DatasetFacts, LoggedRuns, dataset_overview, dataset_size
from offdiag.store.datasets import DatasetRecord, single_label_task
from offdiag.store.run_costs import RunWithCosts
from offdiag_web.app.context import current_registry, kept_best_sets, name_project
from offdiag_web.app.dispatch import DATA_FORMAT, SENT_BY_FORM, requested_project
from offdiag_web.app.errors import Failure, failure_of, message_of, status_of
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.parameters import refuse_unread
from offdiag_web.app.preferences import form_author
from offdiag_web.components import numbers
from offdiag_web.components.classes import class_order
from offdiag_web.components.controls import Option
from offdiag_web.components.costs.form import (
    base_segments,
    base_text,
    cost_grid,
    share_fields,
    warning_texts,
)
from offdiag_web.components.costs.ranking import constant_sentence, rank_sentence, ranking
from offdiag_web.components.datasets import DatasetFrame, dataset_frame
from offdiag_web.components.slices import slice_choices
from offdiag_web.pages.what_if.choice import choice_view, lever_choices, slider_view, verdict
from offdiag_web.pages.what_if.heat import binary_sides, heat_view
from offdiag_web.pages.what_if.threshold import threshold_card
from offdiag_web.urls.costs import (
    LONGEST_URL,
    CostsAddress,
    WhatIfAddress,
    asked_by_form,
    new_costs_url,
    read_what_if,
    what_if_start_url,
)
from offdiag_web.urls.query_string import named_project


def what_if_view(
    found: WhatIf,
    address: WhatIfAddress,
    notices: Sequence[str],
    failure: Failure | None = None,
) -> str:
    """Present the answer to a question under its canonical address.

    `failure` is what was wrong with the costs to be saved.
    """
    first, scenario = found.frame.runs[0], found.scenario
    record = scenario.base.record
    order = class_order(first.matrix, None)
    labels = scenario.costs.labels
    return render_template(
        "what_if/page.html",
        title=f"Cost what-if · {first.dataset}",
        address=address,
        failure_of_form=failure,
        base=base_text(scenario.base),
        base_note=None if record is None else record.note,
        base_url=None
        if record is None
        else CostsAddress(record.project, record.name, record.version).url(),
        currency=scenario.costs.currency,
        presets=base_segments(
            scenario.base,
            found.frame.choices,
            is_edited=bool(scenario.edits),
            url_of=lambda reference: address.asking(costs=reference, edits="").url(),
        ),
        changes=_changes(found),
        multiplications=", ".join(
            f"{each.sides} × {cost_text(each.factor)}"
            for each in found.scenario.edits.multiplications
        ),
        times=replace(scenario.edits, cells={}).text(labels),
        reset_url=address.asking(edits="", shares="", merged="", lever="").url(),
        grid=cost_grid(scenario, order),
        groups=" ".join(",".join(map(str, group)) for group in scenario.groups),
        warnings=warning_texts(found.warnings, labels),
        notices=(*notices, *_notices(found, address)),
        levers=lever_choices(found, order),
        shares=share_fields(first.matrix, scenario.shares, order),
        has_shares=scenario.prevalence is not None,
        verdict=verdict(found),
        slider=slider_view(found),
        standing=rank_sentence(found),
        loses=constant_sentence(found),
        ranking=ranking(found, address),
        sides=binary_sides(found, address),
        choice=choice_view(found),
        heat=heat_view(found, order, selected=range(len(found.answers))),
        slices=slice_choices(found.frame.levels, found.frame.part or None),
        others=tuple(
            Option(
                other.id,
                " · ".join(filter(None, [numbers.shortened(other.name, longest=40), other.model])),
                is_chosen=False,
            )
            for other in found.frame.others
        ),
        can_add=len(found.answers) < MOST_RUNS,
        save_name="" if record is None else record.name,
        next_version=_next_version(found),
        new_url=new_costs_url(first.project, first.dataset),
        threshold=threshold_card(current_registry().database, found),
        frame=_frame(first),
    )


def _changes(found: WhatIf) -> str:
    edits = found.scenario.edits
    n_cells = int((found.scenario.costs.weights != found.scenario.base.costs.weights).sum())
    if not edits:
        return ""
    return f"{numbers.plural(n_cells, 'cell')} changed"


def _notices(found: WhatIf, address: WhatIfAddress) -> tuple[str, ...]:
    beyond = address.runs[MOST_RUNS:]
    notices = [
        f"Run {run_id} is left out: {why}."
        for run_id, why in found.frame.left_out
        if run_id not in beyond
    ]
    if beyond:
        notices.append(
            f"At most {MOST_RUNS} runs are compared at once; left out: {', '.join(beyond)}."
        )
    if found.frame.n_weighted:
        notices.append(not_ranked_text(found.frame.n_weighted))
    notices += found.scenario.problems
    if address.positive and address.positive not in found.scenario.costs.labels.names:
        notices.append(f"There is no class “{address.positive}” here.")
    length = len(address.url())
    if length > LONGEST_URL:
        notices.append(
            f"The link to these changes has {numbers.count(length)} characters, which some "
            "programs cut off. Save a version before you share it."
        )
    return tuple(notices)


def _next_version(found: WhatIf) -> int | None:
    record = found.scenario.base.record
    if record is None:
        return None
    newest = [c.version for c in found.frame.choices if c.name == record.name]
    return max([record.version, *newest]) + 1


@dataclass(frozen=True, slots=True)
class DatasetChoice:
    """A dataset with evaluated runs."""

    name: str
    project: str | None
    url: str
    facts: str


def start_view(
    datasets: Sequence[tuple[DatasetFacts, LoggedRuns]],
    address: WhatIfAddress,
    *,
    notice: str | None,
) -> str:
    """Present the datasets whose runs have costs; sets of labels have none.

    The rest of the address is kept.
    """
    return render_template(
        "what_if/start.html",
        datasets=tuple(
            DatasetChoice(
                facts.name,
                named_project(facts.project),
                what_if_start_url(facts.project, facts.name, address.question.costs),
                f"{numbers.plural(logged.by_state[RunState.EVALUATED], 'evaluated run')}, "
                f"{numbers.plural(facts.n_classes, 'class', 'classes')}",
            )
            for facts, logged in datasets
            if logged.by_state[RunState.EVALUATED] and facts.task is not Task.MULTILABEL
        ),
        n_runs=sum(logged.total for _, logged in datasets),
        notice=notice,
    )


blueprint = Blueprint("what_if", __name__)

MANY_CLASSES, FEWER_RUNS = 30, 4
"""Counts of many classes are sent with the page, so it starts with fewer runs then."""


@blueprint.get("/whatif")
def page() -> Response:
    address = read_what_if(request.args)
    if not address.runs:
        return _start(address)
    if SENT_BY_FORM in request.args or "add" in request.args or address.question.costs is None:
        return redirect(_canonical(address).url())
    notices: list[str] = []
    try:
        found = ask(current_registry().database, address.runs, address.question)
    except InvalidInput as error:
        if error.field != "slice":
            raise
        notices = [f"The slice is not applied: {message_of(error)} All examples are shown."]
        found = ask(current_registry().database, address.runs, replace(address.question, part=""))
    address = address.asking(part=found.frame.part)
    return make_response(what_if_view(found, address, notices))


@blueprint.get(f"/whatif{DATA_FORMAT}")
def export(form: str) -> Response:
    address = read_what_if(request.args)
    refuse_unread()
    found = costs_of_runs(ask(current_registry().database, address.runs, address.question))
    if form == "json":
        return json_response(CostsOfRunsAt(**dict(found), url=address.url()))
    return csv_response("what-if", RANKING_COLUMNS, map(ranking_row, found.runs))


@blueprint.post("/whatif")
def save() -> Response:
    """Save the changed costs as a new version and ask the same question with it."""
    database = current_registry().database
    address = read_what_if(request.form)
    run, base = read_base(database, address.runs, address.question.costs)
    scenario = understand(address.question, base, [run.matrix])
    name_project(run.project)
    name = request.form.get("name", "").strip()
    # The form says that the costs it started from get a new version.
    of = None if base.record is None else base.record.name
    try:
        record = add_costs(
            current_registry().database,
            project=run.project,
            dataset=run.dataset,
            name=name,
            weights=scenario.costs.weights,
            currency=scenario.costs.currency,
            note=request.form.get("note", "").strip() or None,
            author=form_author(),
            seen=None if name in {of, request.form.get("version_of")} else 0,
        )
    except (Conflict, InvalidInput) as error:
        found = ask(database, address.runs, address.question)
        html = what_if_view(found, address, [], failure_of(error))
        return make_response(html, status_of(error))
    saved = address.asking(costs=f"{record.name}@{record.version}", edits="")
    return redirect(saved.url(), 303)


def _start(address: WhatIfAddress) -> Response:
    """Let the reader choose a dataset, or show the best and newest runs of the chosen one."""
    database = current_registry().database
    dataset, notice = request.args.get("dataset"), None
    if dataset:
        runs = runs_to_start_with(
            database, project=requested_project(), dataset=dataset, kept=kept_best_sets()
        )
        if runs:
            try:
                first, _ = read_base(database, runs, address.question.costs)
            except NotFound as refused:
                # The dataset exists; missing labels are not a missing page.
                notice = f"Dataset “{dataset}”: {message_of(refused)}"
            else:
                few = runs[:FEWER_RUNS] if first.matrix.n_classes > MANY_CLASSES else runs
                return redirect(_canonical(replace(address, runs=tuple(few))).url())
    with database.read() as session:
        datasets = dataset_overview(session)
    if dataset and notice is None:
        asked = (requested_project(), dataset)
        has_evaluated = any(
            (facts.project, facts.name) == asked and logged.by_state[RunState.EVALUATED]
            for facts, logged in datasets
        )
        # Runs with weights are left out.
        here = "without sample weights" if has_evaluated else "here"
        notice = f"Dataset “{dataset}” has no evaluated runs {here}."
    return make_response(start_view(datasets, address, notice=notice))


def _canonical(address: WhatIfAddress) -> WhatIfAddress:
    added = read_what_if({"runs": request.args.get("add", "")}).runs
    runs = tuple(dict.fromkeys((*address.runs, *added)))
    _, base = read_base(current_registry().database, runs, address.question.costs)
    return replace(asked_by_form(request.args, base), runs=runs)


def _frame(run: RunWithCosts) -> DatasetFrame:
    """The header of the dataset of a run, made without reading its labels again."""
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
