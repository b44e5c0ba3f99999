"""The first page: the state of every dataset, and what happened since the last visit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response

from offdiag.comparison.many import FEWEST_RUNS
from offdiag.domain.runs import RunState, Task
from offdiag.domain.values import reason_text
from offdiag.flags.problems import Problem
from offdiag.metrics.catalogue import Direction
from offdiag.metrics.metric_text import difference, spec_of
from offdiag.services.champions.dataset_status import (
    DatasetStatus,
    KeptComparisons,
    by_time,
    statuses,
)
from offdiag.services.champions.leaders import primary_metric
from offdiag.store.dataset_page import DatasetFacts, LoggedRuns
from offdiag.store.home_overview import (
    DueReport,
    FailedEdition,
    FailedRun,
    Failure,
    HomeOverview,
    label_versions_since,
    read_home,
    runs_on_earlier_labels,
    unlabelled_samples,
)
from offdiag.store.promotions import promotions_in_force, promotions_since
from offdiag.store.ranked_runs import undefined_values
from offdiag_web.app.context import current_registry, kept_best_sets, kept_drops
from offdiag_web.app.last_visit import news_since, open_problems
from offdiag_web.charts.marks import Canvas, interval_mark
from offdiag_web.charts.svg import UNIT
from offdiag_web.charts.trend import sparkline
from offdiag_web.components import metric_values, numbers
from offdiag_web.components.controls import Paging, ahead_text, paging
from offdiag_web.components.datasets import runs_url
from offdiag_web.components.metric_values import (
    UNDEFINED,
    extent_of,
    interval_text,
)
from offdiag_web.pages.home.news import MOST_NEWS, NewsView, label_news, news_view, promotion_news
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.flags import ProblemsAddress
from offdiag_web.urls.query_string import read_start, with_query
from offdiag_web.urls.reports import ReportAddress
from offdiag_web.urls.run import run_url

_MARK = Canvas(width=96, height=20)
IN_SPARKLINE = 12
"""Number of newest evaluated runs whose values make a sparkline."""
MOST_DUE = 5
DATASETS_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class DatasetLine:
    """The state of one dataset; `run` is empty as long as no run has a value."""

    name: str
    url: str
    facts: str
    runs_url: str
    run: str
    shown_run: str
    run_url: str
    role: str
    value: str
    no_value: str
    metric: str
    interval: str
    mark: Markup | None
    trend: Markup | None
    state: str
    is_worse: bool
    n_problems: str
    n_new_problems: str
    problems_url: str
    new_problems_url: str
    n_failed: int
    report: str
    report_url: str


def home_view(
    overview: HomeOverview,
    shown: Sequence[tuple[DatasetFacts, LoggedRuns]],
    statuses: Mapping[int, DatasetStatus],
    problems: Sequence[Problem],
    news: NewsView,
    *,
    unlabelled: Mapping[int, int],
    on_earlier: Mapping[int, int],
    undefined: Mapping[int, str],
    since: datetime,
    now: datetime,
    wanted: str,
    page: Paging,
    notices: Sequence[str] = (),
) -> str:
    """Present a page of the datasets whose names contain all words of `wanted`."""
    names = [dataset.name for dataset, _ in overview.datasets]
    by_dataset: dict[int, list[Problem]] = {}
    for problem in problems:
        by_dataset.setdefault(problem.key.dataset_id, []).append(problem)
    due = {(each.project, each.dataset): each for each in reversed(overview.due)}
    lines = [
        (
            dataset.project,
            _line(
                dataset,
                runs,
                statuses.get(dataset.id),
                by_dataset.get(dataset.id, []),
                since=since,
                n_unlabelled=unlabelled.get(dataset.id, 0),
                n_earlier=on_earlier.get(dataset.id, 0),
                why_undefined=undefined.get(dataset.id),
                due=due.get((dataset.project, dataset.name)),
                is_unique=names.count(dataset.name) == 1,
                now=now,
            ),
        )
        for dataset, runs in shown
    ]
    n_projects = len({dataset.project for dataset, _ in overview.datasets})
    total = sum(runs.total for _, runs in overview.datasets)
    return render_template(
        "home/page.html",
        groups=tuple(
            (project, tuple(line for _, line in each))
            for project, each in groupby(lines, key=lambda line: line[0])
        ),
        facts=f"{numbers.count(len(names))} in {numbers.plural(n_projects, 'project')} · "
        f"{numbers.plural(total, 'run')}",
        wanted=wanted,
        notices=notices,
        paging=page,
        is_flattered=any(
            not each.is_champion and each.ranked.total >= FEWEST_RUNS for each in statuses.values()
        ),
        since=f"{since.day} {since:%b}",
        news=news,
        failures=[(each, *_failed(each), _error(each)) for each in overview.failures],
        has_new_failures=any(each.at > since for each in overview.failures),
        due=[
            (
                each,
                ReportAddress(each.project, each.name).url(),
                ahead_text((each.due - now).total_seconds()),
            )
            for each in overview.due[:MOST_DUE]
        ],
    )


def _page_of(n_found: int, start: int, wanted: str) -> Paging:
    return paging(
        n_found,
        start,
        per_page=DATASETS_PER_PAGE,
        words=("dataset", "datasets"),
        url=lambda first: with_query(
            "/", {"q": wanted, "from": str(first + 1) if first else None}
        ),
    )


def _has_new_runs(runs: LoggedRuns, since: datetime) -> bool:
    """Whether one of its new runs may be a drop."""
    return runs.last_logged_at is not None and runs.last_logged_at > since


def _line(
    dataset: DatasetFacts,
    runs: LoggedRuns,
    status: DatasetStatus | None,
    problems: Sequence[Problem],
    *,
    since: datetime,
    n_unlabelled: int,
    n_earlier: int,
    why_undefined: str | None,
    due: DueReport | None,
    is_unique: bool,
    now: datetime,
) -> DatasetLine:
    state, is_worse = (
        ("counts only", False)
        if _is_counted(dataset, runs)
        else _state(dataset, status, n_unlabelled, n_earlier, why_undefined)
    )
    run = None if status is None else status.shown
    role = "champion" if status is not None and status.is_champion else ""
    listed = ProblemsAddress(dataset=dataset.name, project="" if is_unique else dataset.project)
    n_new = sum(each.is_new(since) for each in problems)
    return DatasetLine(
        name=dataset.name,
        url=DatasetAddress(dataset.project, dataset.name).url(),
        facts=_facts(dataset, runs),
        runs_url=runs_url(dataset, name_is_unique=is_unique),
        run="" if run is None else run.name,
        shown_run="" if run is None else _shown_name(run.name, is_champion=bool(role)),
        run_url="" if run is None else run_url(run.id),
        role=role,
        value="" if run is None else metric_values.known(run.value),
        no_value=_no_value(dataset, runs, n_earlier, why_undefined),
        metric="" if status is None else _metric(status),
        interval="" if run is None else interval_text(run.value) or "no interval",
        mark=None if status is None else _mark(status),
        trend=None if status is None else _trend(status),
        state=state,
        is_worse=is_worse,
        n_problems=numbers.count(len(problems)) if problems else "",
        n_new_problems=numbers.count(n_new) if n_new else "",
        problems_url=listed.url(),
        new_problems_url=replace(listed, show="new").url(),
        n_failed=runs.by_state[RunState.FAILED],
        report="" if due is None else ahead_text((due.due - now).total_seconds()),
        report_url="" if due is None else ReportAddress(due.project, due.name).url(),
    )


def _shown_name(name: str, *, is_champion: bool) -> str:
    """The name cut in the middle, with room for the tag of a champion."""
    return numbers.cut_in_the_middle(name, longest=16 if is_champion else 26)


def _facts(dataset: DatasetFacts, runs: LoggedRuns) -> str:
    n_runs = numbers.plural(runs.total, "run")
    if not _is_counted(dataset, runs) and not dataset.n_labelled:
        return f"{n_runs}, no labels"
    if dataset.task is Task.MULTILABEL:
        return f"{n_runs}, {numbers.plural(dataset.n_classes, 'label')}"
    return f"{n_runs}, {numbers.plural(dataset.n_classes, 'class', 'classes')}"


def _is_counted(dataset: DatasetFacts, runs: LoggedRuns) -> bool:
    """Whether its runs are evaluated counts, which have labels but no labelled examples."""
    return dataset.truth_number is None and runs.by_state[RunState.EVALUATED] > 0


def _no_value(
    dataset: DatasetFacts, runs: LoggedRuns, n_earlier: int, why_undefined: str | None
) -> str:
    """Why no run has a value on the newest labels."""
    if _is_counted(dataset, runs):
        return "not ranked"
    if why_undefined is not None:
        return f"{spec_of(primary_metric(dataset), of_class=False).title} {UNDEFINED}"
    return f"none on labels v{dataset.truth_number}" if n_earlier else "not evaluated"


def _state(
    dataset: DatasetFacts,
    status: DatasetStatus | None,
    n_unlabelled: int,
    n_earlier: int,
    why_undefined: str | None,
) -> tuple[str, bool]:
    """How certain the ranking is, in a few words, and whether that is bad news."""
    if not dataset.n_labelled:
        n_examples = dataset.n_samples or n_unlabelled
        labelled = f"0 of {numbers.count(n_examples)} labelled"
        return labelled if n_examples else "no results yet", False
    if why_undefined is not None:
        return reason_text(why_undefined), False
    if status is None:
        of_earlier = f"{numbers.plural(n_earlier, 'run')} on earlier labels"
        return of_earlier if n_earlier else "not evaluated", False
    if status.candidate_difference == 0:
        return "candidate: not significant", False
    if status.candidate_difference is not None:
        spec = spec_of(status.ranked.key, of_class=False)
        text = difference(status.candidate_difference, spec)
        is_lower = status.candidate_difference < 0
        return f"candidate {text}", is_lower is not (spec.direction is Direction.LOWER)
    return _rank(status), False


def _rank(status: DatasetStatus) -> str:
    """Where the run that is shown stands among the others."""
    ranked, shown = status.ranked, status.shown
    if status.champion is not None and not status.is_champion:
        return "champion not ranked"
    if status.is_champion and (shown.is_chosen_here or shown in ranked.weighted):
        return "champion not compared"
    if status.best_set is not None:
        if shown.id in status.best_set or not status.is_champion:
            return "1 run leads" if status.n_best == 1 else f"{status.n_best} runs share the lead"
        one = status.n_best == 1
        return "another run leads" if one else f"behind {status.n_best} leading runs"
    if ranked.total == 1:
        return "1 run"
    spec = spec_of(ranked.key, of_class=False)
    place = [run.value.value for run in ranked.runs].index(shown.value.value) + 1
    first = "lowest" if spec.direction is Direction.LOWER else "highest"
    rank = f"{first if place == 1 else f'rank {numbers.count(place)}'} of {ranked.total:,}"
    return rank if status.is_waiting else f"{rank}, not tested"


def _metric(status: DatasetStatus) -> str:
    """The metric of the value; the trend and the best set next to it may be unweighted."""
    title = spec_of(status.ranked.key, of_class=False).title
    return f"{title}, weighted" if status.shown in status.ranked.weighted else title


def _mark(status: DatasetStatus) -> Markup | None:
    value, spec = status.shown.value, spec_of(status.ranked.key, of_class=False)
    extent = extent_of(value)
    if extent is None or (spec.low, spec.high) != (0, 1):
        return None
    words = numbers.metric(extent.estimate)
    if interval := interval_text(value):
        words += f", 95 % CI {interval}"
    return interval_mark(extent, scale=UNIT, name=words, canvas=_MARK)


def _trend(status: DatasetStatus) -> Markup | None:
    newest = by_time(status.ranked, most=IN_SPARKLINE)
    values = list(newest.values())
    if len(values) < 2:
        return None
    ends = [numbers.metric(value) for value in (values[0], values[-1]) if value is not None]
    dropped = {drop.run.id for drop in status.drops}
    ringed = [place for place, run_id in enumerate(newest) if run_id in dropped]
    name = f"newest {len(values)} runs: from {ends[0]} to {ends[-1]}"
    if ringed:
        spec = spec_of(status.ranked.key, of_class=False)
        word = "rise" if spec.direction is Direction.LOWER else "drop"
        name += f"; ringed: significant {word}"
    return sparkline(values, name=name, ringed=ringed)


def _failed(failure: Failure) -> tuple[str, str]:
    """The name of what a failure is about, and its address."""
    match failure.about:
        case FailedRun(run_id, name):
            return name, run_url(run_id)
        case FailedEdition(project, name, number):
            return _edition(project, name, number)
    if failure.is_report:
        return _edition(failure.project, failure.name, failure.number)
    return f"{failure.name}, job {failure.number}", f"/jobs/{failure.number}"


def _edition(project: str, name: str, number: int) -> tuple[str, str]:
    return f"report {name}, edition {number}", ReportAddress(project, name).edition_url(number)


def _error(failure: Failure) -> str:
    lines = failure.error.strip().splitlines()
    return numbers.shortened(lines[-1], longest=120) if lines else "no reason recorded"


blueprint = Blueprint("home", __name__)

_MOST_COMPARING_S = 0.5
"""Processor time after which a view shows datasets without comparing their runs, as just after a
restart. The views that follow, and the server while nobody waits, compare the rest."""


def _waiting(n_datasets: int) -> list[str]:
    if not n_datasets:
        return []
    of_datasets = numbers.plural(n_datasets, "dataset")
    return [f"The runs of {of_datasets} are not compared yet: refresh for best sets and drops."]


@blueprint.get("/")
def home() -> Response:
    """The overview; with a single dataset and no news, the page of that dataset."""
    database = current_registry().database
    now = database.clock()
    start, notices = read_start(request.args)
    wanted = request.args.get("q", "").strip()[:200]
    problems = open_problems().list(database)
    with database.read() as session:
        since = news_since(session, now=now)
        overview = read_home(session)
        terms = wanted.lower().split()
        named = [
            each
            for each in overview.datasets
            if all(term in f"{each[0].project} {each[0].name}".lower() for term in terms)
        ]
        page = _page_of(len(named), start, wanted)
        shown = named[page.start : page.end]
        ids_shown = {dataset.id for dataset, _ in shown}
        found = statuses(
            session,
            [
                dataset
                for dataset, runs in overview.datasets
                if dataset.id in ids_shown or _has_new_runs(runs, since)
            ],
            promotions_in_force(session),
            kept=KeptComparisons(kept_best_sets(), kept_drops()),
            most_s=_MOST_COMPARING_S,
        )
        notices += _waiting(sum(each.is_waiting for each in found.values()))
        promotions = promotions_since(session, since, limit=MOST_NEWS)
        labels = label_versions_since(session, since, limit=MOST_NEWS)
        has_unlabelled = any(each.truth_number is None for each, _ in shown)
        unlabelled = unlabelled_samples(session) if has_unlabelled else {}
        without = {each.id: primary_metric(each) for each, _ in shown if each.id not in found}
        on_earlier = runs_on_earlier_labels(session, without) if without else {}
        undefined = undefined_values(session, without) if without else {}
    news = news_view(
        overview.datasets,
        found,
        problems,
        [
            [label_news(each) for each in labels],
            [promotion_news(*each) for each in promotions],
        ],
        since=since,
    )
    if not wanted and not overview.datasets:
        return redirect(url_for("runs.runs"))
    has_news = news.lines or any(each.at > since for each in overview.failures)
    if not wanted and len(overview.datasets) == 1 and not has_news:
        [(dataset, _)] = overview.datasets
        return redirect(DatasetAddress(dataset.project, dataset.name).url())
    html = home_view(
        overview,
        shown,
        found,
        problems,
        news,
        unlabelled=unlabelled,
        on_earlier=on_earlier,
        undefined=undefined,
        since=since,
        now=now,
        wanted=wanted,
        page=page,
        notices=notices,
    )
    return make_response(html)
