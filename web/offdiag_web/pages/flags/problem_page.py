"""One problem: what it is now, since when, and decisions about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response

from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.flags.problem_words import problem_name, problem_title, reason, value_now
from offdiag.flags.problems import Cause, Hit, Problem, ProblemState, SeenRun
from offdiag.records.flag import problem_documents
from offdiag.services.flags.rules import thresholds_in
from offdiag.store.flag_inbox import flagged_run
from offdiag.store.problems import (
    MEASURED,
    DatasetOfProblems,
    FoundProblems,
    Measured,
    find_problem,
    measure,
)
from offdiag_web.app.context import current_registry
from offdiag_web.app.errors import status_of
from offdiag_web.app.exports import json_response
from offdiag_web.app.paths import own_path
from offdiag_web.components.controls import Chip
from offdiag_web.components.flags import SeverityMark, flag_name, severity_mark
from offdiag_web.pages.flags.inbox import (
    METRIC_WORDS,
    day_of,
    problem_chip,
    run_count,
    settle_problems,
    trend_of,
)
from offdiag_web.pages.flags.recall_by_size import SizeChart, recall_floor, size_chart
from offdiag_web.pages.flags.triage import ACTIONS, REST, Refused
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.examples import missed_url
from offdiag_web.urls.flags import flag_url
from offdiag_web.urls.problems import problem_url

blueprint = Blueprint("problem", __name__)

_PROBLEM = "/problems/<int(max=9223372036854775807):number>"
_WITH_SIZES = (Cause.MISSED, Cause.DROP, Cause.FEW_LABELS)
_SHOWN_BY = {
    Hit.CHAMPION: "the champion",
    Hit.CANDIDATE: "the candidate",
    Hit.NEWEST: "the newest run",
    Hit.OLD: "an older run",
}


@dataclass(frozen=True, slots=True)
class NamedLink:
    """A link in a fact."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class ProblemPageView:
    """Everything on the page of a problem."""

    name: str
    title: str
    url: str
    json_url: str
    severity: SeverityMark
    state: Chip | None
    model: str
    dataset: str
    dataset_url: str
    sentence: str
    message: str
    roles: tuple[str, ...]
    trend: Markup | None
    trend_title: str
    chart: SizeChart | None
    since: str
    first_run: NamedLink
    runs: str
    shown_run: NamedLink
    best: NamedLink | None
    missed: str | None
    flags: tuple[NamedLink, ...]
    reasons: str
    assignee: str | None
    can_accept: bool
    can_settle: bool
    can_reopen: bool
    rest_until: str
    earliest: str
    refused: Refused


@blueprint.get(_PROBLEM)
def page(number: int) -> Response:
    return _page(number, Refused())


@blueprint.get(f"{_PROBLEM}.json")
def twin(number: int) -> Response:
    problem, found, measured = _problem(number)
    return json_response(problem_documents([problem], found, {number: measured})[0])


@blueprint.post(f"{_PROBLEM}/<any({', '.join(ACTIONS)}):action>")
def decide(number: int, action: str) -> Response:
    typed = request.form.to_dict()
    try:
        settle_problems(action, [number], typed)
    except (Conflict, InvalidInput) as error:
        answer = _page(number, Refused.because(error, typed))
        answer.status_code = status_of(error)
        return answer
    return redirect(own_path(typed.get("back", problem_url(number))), 303)


def _page(number: int, refused: Refused) -> Response:
    problem, found, measured = _problem(number)
    view = _view(problem, found.datasets[problem.key.dataset_id], measured, refused)
    return make_response(render_template("flags/problem.html", view=view))


def _problem(number: int) -> tuple[Problem, FoundProblems, Measured]:
    database = current_registry().database
    with database.read() as session:
        found = find_problem(session, number, now=database.clock())
        if not found.problems:
            raise NotFound(
                f"no run that is looked at shows problem {problem_name(number)}.",
                field="problem",
                hint="The list of problems shows those there are.",
            )
        return found.problems[0], found, measure(session, found)[number]


def _view(
    problem: Problem, dataset: DatasetOfProblems, measured: Measured, refused: Refused
) -> ProblemPageView:
    key = problem.key
    runs = {run.id: run for run in problem.runs}
    state = problem.state
    best = _best(problem, measured)
    current = problem.current or problem.flags
    return ProblemPageView(
        name=problem_name(problem.number),
        title=problem_title(key),
        url=problem_url(problem.number),
        json_url=problem_url(problem.number, "json"),
        severity=severity_mark(problem.severity),
        state=problem_chip(problem),
        model=key.model,
        dataset=dataset.name,
        dataset_url=DatasetAddress(dataset.project, dataset.name).url(),
        sentence=_sentence(problem, measured),
        message=measured.message,
        roles=tuple(hit.value for hit in problem.hits if hit in (Hit.CHAMPION, Hit.CANDIDATE)),
        trend=trend_of(problem, measured),
        trend_title=METRIC_WORDS[MEASURED[key.cause]] if key.cause in MEASURED else "",
        chart=_chart(problem, measured) if key.cause in _WITH_SIZES else None,
        since=day_of(problem.since, problem.now),
        first_run=_run_link(problem.affected[-1].id, problem.affected[-1].name),
        runs=run_count(problem),
        shown_run=_run_link(measured.run_id, runs[measured.run_id].name),
        best=None if best is None else _run_link(best.id, best.name),
        missed=missed_url(measured.run_id, key.class_label)
        if key.cause is Cause.MISSED and key.class_label
        else None,
        flags=tuple(NamedLink(flag_name(flag.id), flag_url(flag.id)) for flag in current[:8]),
        reasons=" · ".join(reason(rule) for rule in problem.reasons),
        assignee=problem.assignee,
        can_accept=state in (ProblemState.OPEN, ProblemState.SNOOZED),
        can_settle=state in (ProblemState.OPEN, ProblemState.ACCEPTED, ProblemState.SNOOZED),
        can_reopen=state not in (ProblemState.OPEN, ProblemState.CLOSED),
        rest_until=f"{problem.now + REST:%Y-%m-%d}",
        earliest=f"{problem.now + timedelta(days=1):%Y-%m-%d}",
        refused=refused,
    )


def _chart(problem: Problem, measured: Measured) -> SizeChart | None:
    registry, label = current_registry(), problem.key.class_label
    with registry.database.read() as session:
        flagged = flagged_run(session, measured.flag_id)
    if flagged is None or flagged.results is None:
        return None
    counted, gap = flagged.results.counted, thresholds_in(registry.settings.flags).recall_gap
    floor = recall_floor(counted, gap=gap, class_label=label)
    return size_chart(counted, floor, class_label=label)


def _best(problem: Problem, measured: Measured) -> SeenRun | None:
    """The run of the model with the highest value, the newest of equal ones."""
    known = [(value, place) for place, value in enumerate(measured.trend) if value is not None]
    return problem.runs[len(problem.runs) - 1 - max(known)[1]] if known else None


def _sentence(problem: Problem, measured: Measured) -> str:
    """ "Found in 39 of 40 runs since 22 Sep; 1 of 17 in the champion." """
    seen = f"In {run_count(problem)} runs since {day_of(problem.since, problem.now)}"
    now = value_now(measured.rule, measured.evidence)
    if problem.state is ProblemState.CLOSED:
        return f"{seen}, not in the newest ones."
    return f"{seen}; {now} in {_SHOWN_BY[problem.hits[0]]}." if now else f"{seen}."


def _run_link(run_id: str, name: str) -> NamedLink:
    return NamedLink(name, url_for("run_matrix.page", run_id=run_id))
