"""The list of datasets and the pages of a dataset, which may be named without its project."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.domain.runs import RunState
from offdiag.errors import InvalidInput, OffdiagError
from offdiag.records.datasets.dataset import (
    CLASS_COUNT_COLUMNS,
    DATASET_COLUMNS,
    DatasetList,
    class_count_rows,
    dataset_document,
    dataset_row,
    dataset_summary,
)
from offdiag.records.promotion import dataset_with_decision
from offdiag.services.champions.decision import (
    DIFFERENCE,
    Decision,
    browse_decision,
    metrics_of,
    ranked_dataset,
)
from offdiag.services.datasets import browse_dataset, comment_on_dataset
from offdiag.services.health import has_worker
from offdiag.store.comments import About, comments_on
from offdiag.store.dataset_page import DatasetFacts, LoggedRuns, dataset_overview
from offdiag_web.app.context import current_registry, kept_best_sets, kept_decisions
from offdiag_web.app.dispatch import DATA_FORMAT, own_path, requested_project
from offdiag_web.app.errors import status_of
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.parameters import refuse_unread
from offdiag_web.app.preferences import require_user_name
from offdiag_web.components import numbers
from offdiag_web.components.controls import (
    NO_WORKER,
    TASK_WORDS,
    Chip,
    Discussion,
    Tone,
    discussion,
)
from offdiag_web.components.datasets import (
    DATASET,
    find_in_any_project,
    open_problems_of,
    runs_url,
)
from offdiag_web.components.slices import worst_slices
from offdiag_web.pages.datasets.data import data_page
from offdiag_web.pages.datasets.decision import decision_view
from offdiag_web.pages.datasets.pictures import Asked
from offdiag_web.pages.datasets.verdict import verdict_of
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.query_string import one_of

blueprint = Blueprint("datasets", __name__)
find_in_any_project(blueprint)


@blueprint.get("/datasets")
def page() -> Response:
    database = current_registry().database
    with database.read() as session:
        overview = dataset_overview(session)
    names = [dataset.name for dataset, _ in overview]
    lines = [_line(*each, is_unique=names.count(each[0].name) == 1) for each in overview]
    return make_response(render_template("datasets/page.html", lines=lines))


@dataclass(frozen=True, slots=True)
class DatasetLine:
    """One dataset of the list; `states` are chips for runs without metrics, by reason."""

    dataset: DatasetFacts
    runs: LoggedRuns
    url: str
    task: str
    n_samples: str
    largest: str
    runs_url: str
    states: tuple[Chip, ...]


_WITHOUT_METRICS: tuple[tuple[RunState, str, Tone], ...] = (
    (RunState.OPEN, "open", "busy"),
    (RunState.FINISHED, "waiting", "busy"),
    (RunState.FAILED, "failed", "error"),
)


def _line(dataset: DatasetFacts, runs: LoggedRuns, *, is_unique: bool) -> DatasetLine:
    n_samples, n_labelled = dataset.n_samples, dataset.n_labelled or 0
    labelled = "none yet" if n_samples is None else numbers.count(n_labelled)
    if n_samples is not None and n_labelled != n_samples:
        labelled = f"{labelled} of {numbers.count(n_samples)}"
    counts = dataset.class_counts
    counted = [(runs.by_state[state], word, tone) for state, word, tone in _WITHOUT_METRICS]
    return DatasetLine(
        dataset,
        runs,
        url=DatasetAddress(dataset.project, dataset.name).url(),
        task=TASK_WORDS[dataset.task],
        n_samples=labelled,
        largest=numbers.fine_percent(max(counts), n_labelled)
        if counts and n_labelled
        else "unknown",
        runs_url=runs_url(dataset, name_is_unique=is_unique),
        states=tuple(Chip(f"{numbers.count(n)} {word}", tone) for n, word, tone in counted if n),
    )


@blueprint.get(f"/datasets{DATA_FORMAT}")
def export(form: str) -> Response:
    with current_registry().database.read() as session:
        found = [dataset_summary(*each) for each in dataset_overview(session)]
    if form == "json":
        return json_response(DatasetList(datasets=found))
    return csv_response("datasets", DATASET_COLUMNS, map(dataset_row, found))


@blueprint.get(DATASET)
def dataset(name: str) -> Response:
    """The decision page: which run to use, and what would change that."""
    return _dataset_page(name)


def _dataset_page(name: str, *, refused_comment: OffdiagError | None = None) -> Response:
    found, notices = _decision(name)
    metrics = metrics_of(found.dataset.task, found.leaders.metric)
    across = one_of(request.args.get("x"), metrics, "horizontal axis", notices)
    up = one_of(request.args.get("y"), ("cost",), "vertical axis", notices)
    asked = Asked(across or metrics[0], up == "cost" and found.facts.costs is not None)
    n_waiting = found.size.n_runs - found.size.n_failed
    has_results = found.leaders.runs or found.why_undefined is not None
    if not has_results and n_waiting and found.size.n_labelled:
        with current_registry().database.read() as session:
            notices += [] if has_worker(session) else [NO_WORKER]
    html = decision_view(
        found,
        asked,
        open_problems_of(found.dataset.id),
        slices=_worst_slices(found),
        notices=notices,
        comments=_comments(found, refused_comment),
    )
    return make_response(html, 200 if refused_comment is None else status_of(refused_comment))


def _worst_slices(found: Decision) -> dict[str, object] | None:
    """Those of the champion, or of the run shown in its place; None if none is below the rest."""
    champion, challenger = found.champion, found.challenger
    if champion is not None and champion.run_id is not None:
        run_id, name = champion.run_id, champion.run_name or champion.run_id
    elif challenger is not None:
        run_id, name = challenger.run.id, challenger.run.name
    else:
        return None
    lines = worst_slices(run_id)
    url = url_for("run_slices.page", run_id=run_id)
    return {"run": name, "url": url, "lines": lines} if lines else None


def _comments(found: Decision, refused: OffdiagError | None) -> Discussion:
    database, dataset = current_registry().database, found.dataset
    address = DatasetAddress(dataset.project, dataset.name)
    with database.read() as session:
        comments = comments_on(session, About.DATASET, dataset.id)
    return discussion(
        comments,
        url=address.comments_url(),
        back=f"{address.url()}#discussion",
        refused=refused,
    )


@blueprint.post(f"{DATASET}/comments")
def add_comment(name: str) -> Response:
    project = requested_project()
    try:
        comment_on_dataset(
            current_registry().database,
            project=project,
            dataset=name,
            text=request.form.get("comment", ""),
            author=require_user_name(),
        )
    except InvalidInput as error:
        return _dataset_page(name, refused_comment=error)
    page = DatasetAddress(project, name).url()
    return redirect(own_path(request.form.get("back", page)), 303)


@blueprint.get(f"{DATASET}{DATA_FORMAT}")
def dataset_export(name: str, form: str) -> Response:
    database, project = current_registry().database, requested_project()
    refuse_unread()
    detail = browse_dataset(database, project=project, dataset=name)
    if form == "csv":
        return csv_response("dataset-classes", CLASS_COUNT_COLUMNS, class_count_rows(detail))
    found = ranked_dataset(database, detail.dataset, best_sets=kept_best_sets())
    return json_response(
        dataset_with_decision(
            dataset_document(detail), found, verdict=verdict_of(found.leaders, detail.runs.total)
        )
    )


@blueprint.get(f"{DATASET}/data")
def data(name: str) -> Response:
    """The data page: classes and their groups, label versions, slices."""
    return data_page(name)


def _decision(name: str) -> tuple[Decision, list[str]]:
    difference, notices = DIFFERENCE, []
    if "difference" in request.args:
        try:
            difference = float(request.args["difference"]) / 100
        except ValueError:
            notices = ["The difference that matters is not a number; 1 point is used instead."]
    found = browse_decision(
        current_registry().database,
        project=requested_project(),
        dataset=name,
        difference=difference,
        best_sets=kept_best_sets(),
        kept=kept_decisions(),
    )
    return found, notices
