"""The page of a problem: its current state, since when it exists, and decisions about it."""

from __future__ import annotations

from functools import partial

from flask import Blueprint, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.number_text import interval_percent, percent
from offdiag.domain.sentences import typeset
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.flags.problem_words import problem_name, problem_title, reason
from offdiag.flags.problems import Hit, Problem, ProblemState, SeenRun, related
from offdiag.flags.verdict import Severity
from offdiag.records.problem import problem_documents
from offdiag.store.comments import About, comments_on
from offdiag.store.problem_values import Measured, best_run_on, measure
from offdiag.store.problems import FoundProblems, find_problem
from offdiag.store.ranked_runs import RankedRun
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import own_path
from offdiag_web.app.exports import json_response
from offdiag_web.components import numbers
from offdiag_web.components.controls import Discussion, Link, discussion
from offdiag_web.components.flags import flag_name, severity_mark
from offdiag_web.components.samples import example_strip, question_about
from offdiag_web.pages.flags.problem_evidence import (
    day_of,
    evidence_chart,
    problem_chip,
)
from offdiag_web.pages.flags.problem_list import page_after
from offdiag_web.pages.flags.triage import (
    ACTIONS,
    Refused,
    decide_problems,
    named_problems,
    rest_days,
    seen_problems,
)
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.flags import flag_url, problem_url
from offdiag_web.urls.run import run_url

blueprint = Blueprint("problem", __name__)

_PROBLEM = "/problems/<int(max=9223372036854775807):number>"
MOST_RELATED = 3
MOST_FLAGS = 3
"""Flags shown for each rule; every run with a problem has its own flags."""


@blueprint.get(_PROBLEM)
def page(number: int) -> Response:
    return _page(number, Refused())


@blueprint.get(f"{_PROBLEM}.json")
def export(number: int) -> Response:
    problem, found, measured = _problem(number)
    return json_response(problem_documents([problem], found, {number: measured})[0])


@blueprint.post(f"{_PROBLEM}/<any({', '.join(ACTIONS)}):action>")
def decide(number: int, action: str) -> Response:
    typed = request.form.to_dict()
    try:
        seen = named_problems([typed.get("seen", "")])
        decide_problems(action, {number: seen.get(number)}, typed)
    except (Conflict, InvalidInput, NotFound) as error:
        return page_after(error, {**typed, "action": action}, partial(_page, number))
    return redirect(own_path(typed.get("back", problem_url(number))), 303)


def _page(number: int, refused: Refused) -> Response:
    database = current_registry().database
    problem, found, measured = _problem(number)
    with database.read() as session:
        chart = evidence_chart(session, problem, measured)
        best = best_run_on(session, problem, found, measured)
    key, dataset = problem.key, found.datasets[problem.key.dataset_id]
    also = related(problem, found.problems)
    runs = {run.id: run for run in problem.runs}
    state, first = problem.state, problem.affected[-1]
    if best is not None and best.id == measured.run_id:
        best = None
    html = render_template(
        "flags/problem.html",
        name=problem_name(problem.number),
        title=problem_title(key),
        url=problem_url(problem.number),
        json_url=problem_url(problem.number, "json"),
        severity=severity_mark(problem.severity),
        severity_here=_severity_of(problem, measured.run_id).value,
        most_severe=_most_severe(problem, measured.run_id),
        state=problem_chip(problem),
        model=key.model,
        dataset=dataset.name,
        dataset_url=DatasetAddress(dataset.project, dataset.name).url(),
        sentence=typeset(measured.message),
        is_closed=state is ProblemState.CLOSED,
        roles=tuple(hit.value for hit in problem.hits if hit in (Hit.CHAMPION, Hit.CANDIDATE)),
        chart=chart,
        examples=example_strip(
            measured.run_id, question_about(key.cause, key.class_label, key.slice)
        ),
        shown_run=_run_link(measured.run_id, runs[measured.run_id].name),
        shown_as=_shown_as(problem, runs[measured.run_id]),
        since=day_of(problem.since, problem.now),
        first_run=None if first.id == measured.run_id else _run_link(first.id, first.name),
        runs=f"in {numbers.count(len(problem.affected))} of "
        f"{numbers.plural(len(problem.runs), 'run')}",
        best=None if best is None else _run_link(best.id, best.name),
        best_value="" if best is None else _value(best),
        also=tuple(_problem_link(each, key.model) for each in also[:MOST_RELATED]),
        n_more=max(0, len(also) - MOST_RELATED),
        reasons=tuple(_reason(rule, problem) for rule in problem.reasons),
        assignee=problem.assignee,
        can_accept=state in (ProblemState.OPEN, ProblemState.SNOOZED),
        can_decide=state in (ProblemState.OPEN, ProblemState.ACCEPTED, ProblemState.SNOOZED),
        can_reopen=state not in (ProblemState.OPEN, ProblemState.CLOSED),
        rest_days=rest_days(problem.now),
        refused=refused,
        discussion=_discussion(problem),
        seen=seen_problems(found, [problem.number]),
        seen_of=partial(seen_problems, found),
    )
    return make_response(html)


def _problem(number: int) -> tuple[Problem, FoundProblems, Measured]:
    database = current_registry().database
    with database.read() as session:
        problem, found = find_problem(session, number, now=database.clock())
        if problem is None:
            raise NotFound(
                f"no current run shows problem {problem_name(number)}.",
                field="problem",
                hint="Open the list of problems.",
            )
        one = FoundProblems((problem,), found.datasets)
        return problem, found, measure(session, one)[number]


def _shown_as(problem: Problem, run: SeenRun) -> str:
    if run.role is not None:
        return run.role.value
    return "newest run" if run.id == problem.runs[0].id else ""


def _severity_of(problem: Problem, run_id: str) -> Severity:
    return max(
        (flag.status.severity for flag in problem.flags if flag.run_id == run_id),
        key=lambda each: each.rank,
    )


def _most_severe(problem: Problem, run_id: str) -> Link | None:
    """The newest run with the severity of the problem; None if that run is shown."""
    if _severity_of(problem, run_id) is problem.severity:
        return None
    names = {run.id: run.name for run in problem.runs}
    shown = problem.current or problem.flags
    found = next(flag.run_id for flag in shown if flag.status.severity is problem.severity)
    return _run_link(found, names[found])


def _value(run: RankedRun) -> str:
    """A share as in the sentence: "75 % (CI 51 to 90 %)"."""
    value = run.value
    if value.value is None:
        return ""
    text = percent(value.value)
    if value.ci_low is None or value.ci_high is None:
        return text
    return f"{text} ({interval_percent(value.ci_low, value.ci_high)})"


def _problem_link(problem: Problem, model: str) -> Link:
    title, of = problem_title(problem.key), problem.key.model
    return Link(f"{title}, {of}" if of and of != model else title, problem_url(problem.number))


def _reason(rule: str, problem: Problem) -> tuple[str, tuple[Link, ...]]:
    raised = [flag for flag in problem.current or problem.flags if flag.rule == rule]
    newest = raised[:MOST_FLAGS]
    return (reason(rule), tuple(Link(flag_name(flag.id), flag_url(flag.id)) for flag in newest))


def _discussion(problem: Problem) -> Discussion:
    with current_registry().database.read() as session:
        found = comments_on(session, About.FLAG, *(flag.id for flag in problem.flags))
    url = problem_url(problem.number)
    return discussion(found, url=f"{url}/comment", back=f"{url}#discussion")


def _run_link(run_id: str, name: str) -> Link:
    return Link(name, run_url(run_id))
