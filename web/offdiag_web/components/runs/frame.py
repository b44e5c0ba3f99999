"""What all pages of a run share: the run, its header and tabs, and notices of outdated results."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from flask import make_response, render_template, request, url_for
from werkzeug.wrappers import Response

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import PromotionRole, RunState, StaleReason, Task
from offdiag.domain.slices import parse_slice
from offdiag.errors import EvaluationFailed, EvaluationPending, OffdiagError
from offdiag.metrics.counted import numbers_of
from offdiag.services.evaluation.slices import slice_levels, sliced_run
from offdiag.services.health import has_worker
from offdiag.store.comments import About, comments_on
from offdiag.store.evaluations import EvaluationWork
from offdiag.store.run_page import RunDetail, RunHeader, RunResults, read_run
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import SENT_BY_FORM
from offdiag_web.components import numbers
from offdiag_web.components.controls import (
    NO_WORKER,
    Caution,
    Chip,
    Discussion,
    Tab,
    class_words,
    discussion,
    spell,
    state_chip,
    waits_for_worker,
)
from offdiag_web.components.runs.statement import run_statement
from offdiag_web.components.slices import PARAMETER, SliceChoice, slice_choices
from offdiag_web.urls.costs import WhatIfAddress
from offdiag_web.urls.datasets import ModelAddress
from offdiag_web.urls.filter_line import dataset_terms, runs_where
from offdiag_web.urls.flags import problems_of_run


def stale_caution(detail: RunDetail, *, now: datetime) -> Caution | None:
    """What the results were computed with, what has changed since, and what happens now."""
    if detail.outdated is None or detail.results is None:
        return None
    facts, outdated = detail.results.facts, detail.outdated
    parts = []
    if StaleReason.TRUTH_REVISED in outdated.reasons:
        current = f"v{facts.newest_truth_number} is current"
        parts.append(f"Evaluated with label version {facts.truth_number}; {current}.")
    if StaleReason.SUITE_CHANGED in outdated.reasons:
        current = f"{outdated.newest_suite_version} is current"
        parts.append(f"Computed with metric suite {facts.suite_version}; {current}.")
    if {StaleReason.COSTS_CHANGED, StaleReason.BASELINE_CHANGED} & set(outdated.reasons):
        parts.append("Its flags were raised with other costs or another baseline.")
    if StaleReason.CURVES_MISSING in outdated.reasons:
        parts.append("Its curves have not been drawn yet.")
    if not parts:
        parts.append(
            f"Evaluated with label version {facts.truth_number}, before re-evaluation failed."
        )
    return Caution(" ".join(parts), _what_is_done(outdated.work, now))


def _what_is_done(work: EvaluationWork | None, now: datetime) -> str:
    if work is None:
        return "This run is not queued for re-evaluation yet."
    waited = spell((now - work.asked_at).total_seconds())
    match work.state:
        case "todo":
            return f"Re-evaluation was queued {waited} ago as job {work.id}."
        case "doing":
            return f"It is being re-evaluated as job {work.id}."
        case "dead":
            tried = numbers.plural(work.attempts, "attempt")
            return f"Re-evaluation failed as job {work.id} after {tried}."


TABS = (
    ("matrix", "Matrix"),
    ("classes", "Classes"),
    ("slices", "Slices"),
    ("curves", "Curves"),
    ("examples", "Examples"),
    ("advice", "Advice"),
    ("history", "History"),
    ("meta", "Metadata"),
)


SLICED = frozenset({"matrix", "classes", "curves", "examples"})
"""Pages that can show a single slice."""
_NOT_KEPT = frozenset({PARAMETER, "from", "after", "before", SENT_BY_FORM})
"""Parameters that are a position in a list, which another slice does not have."""


def run_header(
    detail: RunDetail, current: str, part: str | None, slices: tuple[SliceChoice, ...]
) -> dict[str, object]:
    """Present a run above its page `current`, which may show only the slice `part`.

    `compare_url` are the runs of the dataset with this one selected, `newer_url` and `older_url`
    the same page of the neighbours. `state` is None if the run has results; `is_pending` makes
    pages reload. `kept` are parameters of the address that stay when a slice is chosen.
    """
    run, around = detail.run, detail.neighbours

    def tab_url(name: str, run_id: str) -> str:
        kept_part = part if name in SLICED else None
        return url_for(f"run_{name}.page", run_id=run_id, slice=kept_part)

    of_dataset = dataset_terms(run.dataset, run.project)
    state = _state(detail)
    is_sliced = any(each.is_chosen for each in slices)
    statement = None if is_sliced else run_statement(detail)
    mark = "" if statement is None else statement.mark
    return {
        "run": run,
        "id": run.id,
        "name": run.name,
        "dataset_url": runs_where(of_dataset),
        "model": (
            None
            if run.model is None
            else Chip(f"Model {run.model}", url=ModelAddress(run.model).url())
        ),
        "compare_url": runs_where(of_dataset, run.id),
        "decide_url": _decide_url(detail, tab_url),
        "newer_url": around.newer_id and tab_url(current, around.newer_id),
        "older_url": around.older_id and tab_url(current, around.older_id),
        "role": _role(detail),
        "is_baseline": around.is_baseline,
        "can_be_baseline": run.state in {RunState.FINISHED, RunState.EVALUATED},
        "scope": run_scope(detail),
        "words": class_words(run.task),
        "size": _size(detail),
        "statement": statement if current == TABS[0][0] else None,
        "problems_url": problems_of_run(run.id),
        "stale": stale_caution(detail, now=current_registry().database.clock()),
        "state": state,
        "job_url": None if state is None or detail.work is None else f"/jobs/{detail.work.id}",
        "is_pending": state is not None and state.tone == "busy",
        "slices": slices,
        "kept": tuple(each for each in request.args.items() if each[0] not in _NOT_KEPT),
        "tabs": tuple(
            Tab(
                _tab_text(name, text, detail),
                tab_url(name, run.id),
                name == current,
                mark if name == TABS[0][0] != current else "",
            )
            for name, text in TABS
            if name not in _left_out(run)
        ),
    }


def _state(detail: RunDetail) -> Chip | None:
    """The state of a run that has no results."""
    if detail.results is not None:
        return None
    now = current_registry().database.clock()
    run = detail.run
    return state_chip(run.state, work=detail.work, n_predictions=run.n_predictions, now=now)


def _role(detail: RunDetail) -> str | None:
    around, run_id = detail.neighbours, detail.run.id
    if around.champion_id == run_id:
        return PromotionRole.CHAMPION.value
    return PromotionRole.CANDIDATE.value if around.candidate_id == run_id else None


def _size(detail: RunDetail) -> str:
    """ "1,503 examples, 7 classes", "30 of 100 labelled, 7 classes"."""
    run, results = detail.run, detail.results
    words = class_words(run.task)
    classes = numbers.plural(len(run.labels), words.one, words.many)
    if results is None:
        return f"{numbers.plural(run.n_predictions, 'prediction')}, {classes}"
    n_cases, n_unlabelled = results.facts.n_cases, results.facts.n_unlabelled
    if n_unlabelled:
        total = numbers.count(n_cases + n_unlabelled)
        return f"{numbers.count(n_cases)} of {total} labelled, {classes}"
    return f"{numbers.plural(n_cases, 'example')}, {classes}"


def _left_out(run: RunHeader) -> frozenset[str]:
    """Pages that only make sense for single classes."""
    is_about_counts = run.task is Task.MULTILABEL or run.is_weighted
    return frozenset({"advice"}) if is_about_counts else frozenset()


def _tab_text(name: str, text: str, detail: RunDetail) -> str:
    """ "Examples 205 wrong" if that is known, else only the name."""
    if name == "classes":
        return class_words(detail.run.task).many.capitalize()
    has_examples = detail.run.source is SourceOrientation.PREDICTIONS
    if name != "examples" or detail.results is None or not has_examples:
        return text
    counted = numbers_of(detail.results.counted)
    if not counted.total:
        # Without labels, it is unknown which examples are wrong.
        return text
    return f"{text} {numbers.count(counted.total - counted.n_right)} wrong"


def n_unlabelled(detail: RunDetail) -> int:
    """The number of examples of an evaluated run if none of them has a label; else 0."""
    results = detail.results
    return 0 if results is None or results.facts.n_cases else results.facts.n_unlabelled


def unlabelled_text(detail: RunDetail) -> str:
    """ "0 of 300 labelled", empty if any example has a label or nothing is evaluated."""
    n_all = n_unlabelled(detail)
    return f"0 of {numbers.count(n_all)} labelled" if n_all else ""


def run_scope(detail: RunDetail) -> str:
    """The dataset with the label version that the results were computed with."""
    run, results = detail.run, detail.results
    number = results.facts.truth_number if results is not None else None
    if number is None and run.truth is not None:
        number = run.truth.number
    return run.dataset if number is None else f"{run.dataset} v{number}"


def _decide_url(detail: RunDetail, tab_url: Callable[[str, str], str]) -> str | None:
    """Where to try costs and thresholds, for runs with scores and for all multi-label runs."""
    run = detail.run
    if detail.results is None:
        return None
    if run.task is Task.MULTILABEL:
        return tab_url("label_costs", run.id)
    return WhatIfAddress().decisions_url(run.id) if run.score_columns > 0 else None


RUN = "/runs/<run:run_id>"
"""Address of a run; each page appends its own name."""


def stored_run(run_id: str, part: str | None = None) -> RunDetail:
    """The run of this request, with the results of a slice if one is named.

    Raises `NotFound`, and what `sliced_run` raises for an unknown slice.
    """
    database = current_registry().database
    with database.read() as session:
        detail = read_run(session, run_id)
    return detail if part is None else sliced_run(database, detail, part)


def results_of(detail: RunDetail) -> RunResults:
    """The results that an export needs.

    Raises `EvaluationPending` if there are none yet and `EvaluationFailed` if there will be none.
    """
    if detail.results is not None:
        return detail.results
    if detail.run.state is RunState.FAILED:
        raise EvaluationFailed(
            f"the evaluation of run {detail.run.id} failed, so it has no metrics.",
            field="run",
            hint="Its page shows the last error.",
        )
    raise EvaluationPending(
        f"run {detail.run.id} has no metrics yet.",
        field="run",
        hint="Ask again in a few seconds.",
    )


def run_page(
    template: str,
    detail: RunDetail,
    current: str,
    *,
    refused_comment: OffdiagError | None = None,
    **values: Any,
) -> Response:
    """A page of the run with the tab `current`, and with the error about a refused comment."""
    part = request.args.get(PARAMETER) or None if current in SLICED else None
    slices, comments = _read_beside(detail, current, part, refused_comment)
    header = run_header(detail, current, part, slices)
    no_worker = ""
    if waits_for_worker(detail.run.state, _state(detail)):
        with current_registry().database.read() as session:
            no_worker = "" if has_worker(session) else NO_WORKER
    return make_response(
        render_template(template, header=header, comments=comments, no_worker=no_worker, **values)
    )


def _read_beside(
    detail: RunDetail, current: str, part: str | None, refused: OffdiagError | None
) -> tuple[tuple[SliceChoice, ...], Discussion | None]:
    """Slices to choose from and comments on the run, for the pages that show them."""
    is_sliced = current in SLICED and detail.results is not None
    is_discussed = current == TABS[0][0] or refused is not None
    if not (is_sliced or is_discussed):
        return (), None
    slices: tuple[SliceChoice, ...] = ()
    comments = None
    database, run_id = current_registry().database, detail.run.id
    with database.read() as session:
        if is_sliced:
            truth = detail.run.truth
            levels = slice_levels(session, detail.run, None if truth is None else truth.root_id)
            slices = slice_choices(levels, None if part is None else str(parse_slice(part)))
        if is_discussed:
            found = comments_on(session, About.RUN, run_id)
            comments = discussion(
                found,
                url=url_for("run_meta.add_comment", run_id=run_id),
                back=url_for("run_matrix.page", run_id=run_id, _anchor="discussion"),
                refused=refused,
            )
    return slices, comments
