"""The list of problems, and decisions about several of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from flask import Blueprint, make_response, redirect, render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response

from offdiag.domain.number_text import number
from offdiag.domain.runs import Task
from offdiag.errors import Conflict, InvalidInput, NotFound, OffdiagError
from offdiag.flags.problem_words import problem_name, problem_title, reason, value_now
from offdiag.flags.problems import Cause, Hit, Line, Problem, folded, in_order
from offdiag.records.problem import PROBLEM_COLUMNS, Problems, problem_documents
from offdiag.store.problem_values import Measured, measure, metric_of
from offdiag.store.problems import FoundProblems, find_problems
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT, SENT_BY_FORM, own_path
from offdiag_web.app.errors import status_of
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.last_visit import news_since
from offdiag_web.app.parameters import understood
from offdiag_web.charts.trend import sparkline
from offdiag_web.components import numbers
from offdiag_web.components.controls import Chip, Segment
from offdiag_web.components.flags import SeverityMark, severity_mark
from offdiag_web.pages.flags.problem_evidence import METRIC_WORDS, day_of, problem_chip, run_count
from offdiag_web.pages.flags.triage import (
    Refused,
    decide_problems,
    named_problems,
    rest_days,
    seen_problems,
)
from offdiag_web.urls.flags import ProblemsAddress, problem_url, read_problems

_TABS = (("New", "new"), ("Open", "open"), ("Snoozed", "snoozed"), ("Resolved", "resolved"))
_HIT_CHOICES = (
    ("", "Hits: any run"),
    ("role", "champion or candidate"),
    ("champion", "champion"),
    ("candidate", "candidate"),
)


@dataclass(frozen=True, slots=True)
class ProblemLine:
    """A line: one problem, or (`opens_list`) several classes with the same cause."""

    name: str
    seen: str
    url: str
    opens_list: bool
    severity: SeverityMark
    title: str
    model: str
    dataset: str
    reasons: str
    roles: tuple[str, ...]
    runs: str
    trend: Markup | None
    now: str
    state: Chip | None
    is_new: bool
    is_selected: bool


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """Lines under a heading."""

    title: str
    lines: tuple[ProblemLine, ...]
    n_problems: str
    is_new: bool


def trend_of(problem: Problem, measured: Measured, task: Task) -> Markup | None:
    """The metric over the runs; None for fewer than two of them."""
    known = [value for value in measured.trend if value is not None]
    if len(known) < 2:
        return None
    metric = METRIC_WORDS[str(metric_of(problem, task))]
    name = f"{metric} over {len(measured.trend)} runs: {number(known[0])} to {number(known[-1])}"
    return sparkline(measured.trend, name=name)


def _read(address: ProblemsAddress) -> tuple[FoundProblems, dict[int, Measured], datetime]:
    """All problems of the dataset, the measurements of those listed, and the last visit."""
    database = current_registry().database
    now = database.clock()
    with database.read() as session:
        since = news_since(session, now=now)
        found = find_problems(
            session,
            now=now,
            dataset=address.dataset or None,
            project=address.project or None,
            run_id=address.run or None,
        )
        listed = FoundProblems(tuple(_listed(found, address, since)), found.datasets)
        return found, measure(session, listed, run_id=address.run), since


def _meant(found: FoundProblems, address: ProblemsAddress) -> list[Problem]:
    return [
        problem
        for problem in found.problems
        if address.means(problem, found.datasets[problem.key.dataset_id])
        and address.is_shown(problem)
    ]


def _listed(found: FoundProblems, address: ProblemsAddress, since: datetime) -> list[Problem]:
    return [
        problem
        for problem in in_order(_meant(found, address), since)
        if _is_listed(problem, address, since)
    ]


def _is_listed(problem: Problem, address: ProblemsAddress, since: datetime) -> bool:
    is_new = address.show != "new" or problem.is_new(since)
    return address.in_state(problem.state) and is_new


def _rendered(address: ProblemsAddress, notices: list[str], refused: Refused) -> str:
    found, measured, since = _read(address)
    now = current_registry().database.clock()
    listed, meant = _listed(found, address, since), _meant(found, address)
    is_narrow = bool(address.cause or address.rule or address.run)

    def group(title: str, *, is_new: bool) -> ProblemGroup:
        some = [problem for problem in listed if problem.is_new(since) is is_new]
        lines = [Line(problem) for problem in some] if is_narrow else folded(some)
        shown = (
            _line(line, found, measured, address=address, since=since, refused=refused)
            for line in lines
        )
        return ProblemGroup(title, tuple(shown), numbers.count(len(some)), is_new)

    counts = {
        show: sum(_is_listed(problem, replace(address, show=show), since) for problem in meant)
        for _, show in _TABS
    }
    groups = (
        group(f"New since {day_of(since, now)}", is_new=True),
        group(address.show.capitalize(), is_new=False),
    )
    shown = tuple(each for each in groups if each.lines)
    notices = [*notices, *_no_longer_selected(shown, refused)]
    with_low = replace(address, low=True)
    n_low = len(_listed(found, with_low, since)) - len(listed)
    state = "" if address.show == "all" else f"{address.show} "
    resolved = f" {counts['resolved']:,} resolved." if counts["resolved"] else ""
    kept = [(key, text) for key, text in address.named() if key not in ("dataset", "hits")]
    runs = {run.id: run.name for problem in found.problems for run in problem.runs}
    run_name = runs.get(address.run, address.run)
    names = {each.name for each in found.datasets.values()} | {address.dataset}
    return render_template(
        "flags/problem_list.html",
        tabs=tuple(
            Segment(
                f"{text} {counts[show]:,}",
                replace(address, show=show).url(),
                address.show == show,
            )
            for text, show in _TABS
        ),
        datasets=tuple(sorted(names - {""})),
        hit_choices=_HIT_CHOICES,
        address=address,
        terms=tuple(
            (f"{key}: {run_name if key == 'run' else text}", address.without(key).url())
            for key, text in kept
        ),
        kept=tuple(kept),
        groups=shown,
        has_headings=any(each.is_new for each in shown) and address.show != "new",
        empty_text=f"No {state}problems.{resolved}",
        n_low=numbers.count(n_low) if n_low else "",
        low_url=with_low.url(),
        is_narrowed=bool(kept) or bool(address.dataset or address.hits) or address.show != "open",
        rest_days=rest_days(now),
        refused=refused,
        notices=notices,
        seen_of=partial(seen_problems, found),
    )


def _line(
    line: Line,
    found: FoundProblems,
    measured: Mapping[int, Measured],
    *,
    address: ProblemsAddress,
    since: datetime,
    refused: Refused,
) -> ProblemLine:
    problem = line.problem
    key, dataset = problem.key, found.datasets[problem.key.dataset_id]
    of_it = measured[problem.number]
    title, url = problem_title(key), problem_url(problem.number)
    if line.folded:
        more = ("more slice", None) if key.cause is Cause.SLICE else ("more class", "more classes")
        title = f"{title}, and {numbers.plural(len(line.folded), *more)}"
        url = ProblemsAddress(
            show=address.show,
            dataset=dataset.name,
            project=dataset.project,
            model=key.model,
            cause=key.cause.value,
        ).url()
    return ProblemLine(
        name=problem_name(problem.number),
        seen=seen_problems(found, (each.number for each in (problem, *line.folded))),
        url=url,
        opens_list=bool(line.folded),
        severity=severity_mark(problem.severity),
        title=title,
        model=key.model,
        dataset=dataset.name,
        reasons=" · ".join(map(reason, problem.reasons)),
        roles=tuple(hit.value for hit in problem.hits if hit in (Hit.CHAMPION, Hit.CANDIDATE)),
        runs=run_count(problem),
        trend=trend_of(problem, of_it, dataset.task),
        now=value_now(of_it.rule, of_it.evidence),
        state=problem_chip(problem),
        is_new=problem.is_new(since),
        is_selected=all(each.number in refused.selected for each in (problem, *line.folded)),
    )


def _no_longer_selected(groups: Sequence[ProblemGroup], refused: Refused) -> list[str]:
    """A notice of selected problems that are no longer listed, or only together with others."""
    ticked = (line.seen for group in groups for line in group.lines if line.is_selected)
    gone = sorted(set(refused.selected) - named_problems(ticked).keys())
    if not gone:
        return []
    few = numbers.plural(len(gone), "selected problem is", "selected problems are")
    names = numbers.listed([problem_name(number) for number in gone])
    return [f"{few} listed differently now and no longer selected: {names}."]


blueprint = Blueprint("problems", __name__)


@blueprint.get("/problems")
def page() -> Response:
    address, notices = read_problems(request.args)
    if SENT_BY_FORM in request.args and not notices:
        return redirect(address.url())
    return make_response(_rendered(address, notices, Refused()))


@blueprint.get(f"/problems{DATA_FORMAT}")
def export(form: str) -> Response:
    address = understood(read_problems(request.args))
    found, measured, since = _read(address)
    documents = problem_documents(_listed(found, address, since), found, measured)
    if form == "csv":
        rows = [document.row(PROBLEM_COLUMNS) for document in documents]
        return csv_response("problems", PROBLEM_COLUMNS, rows)
    return json_response(Problems(problems=documents))


@blueprint.post("/problems")
def decide() -> Response:
    typed = request.form.to_dict()
    some = named_problems(request.form.getlist("problem"))
    try:
        decide_problems(typed.get("action", ""), some, typed)
    except (Conflict, InvalidInput, NotFound) as error:
        return list_after(error, Refused.because(error, typed, selected=set(some)))
    return redirect(own_path(typed.get("back", "/problems")), 303)


def list_after(error: OffdiagError, refused: Refused) -> Response:
    """The list with the error about a decision, and with what was typed."""
    address, notices = read_problems(request.args)
    return make_response(_rendered(address, notices, refused), status_of(error))


def page_after(
    error: OffdiagError, typed: Mapping[str, str], page: Callable[[Refused], Response]
) -> Response:
    """The page with the error about a decision; the list if what it was about is gone."""
    try:
        answer = page(Refused.because(error, typed))
    except NotFound as gone:
        return list_after(gone, Refused.because(gone, typed))
    answer.status_code = status_of(error)
    return answer
