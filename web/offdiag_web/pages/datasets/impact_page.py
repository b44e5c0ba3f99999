"""The page of how a correction of labels changed every run: one sentence, tables, JSON and CSV."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flask import Blueprint, make_response, redirect, render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response

from offdiag.domain.values import MetricValue
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.records.datasets.truth import (
    IMPACT_COLUMNS,
    ImpactInWords,
    impact_document,
    impact_rows,
)
from offdiag.services.samples.drafts import undo_version
from offdiag.services.truth.impact import MOST_RUNS, MovedRun, TruthImpact, truth_impact
from offdiag.services.truth.versions import LabelDifference
from offdiag.store.truth_impact import ScoredRun
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import DATA_FORMAT, requested_project
from offdiag_web.app.errors import REFUSED, Failure, failure_of
from offdiag_web.app.exports import csv_response, json_response
from offdiag_web.app.preferences import user_name_if_given
from offdiag_web.charts.marks import interval_mark
from offdiag_web.charts.svg import SIGNED_UNIT, UNIT, Extent, Scale, fitted
from offdiag_web.components import numbers
from offdiag_web.components.controls import Link, Segment, paging
from offdiag_web.components.datasets import (
    DATASET,
    METRIC_TITLES,
    VERSION,
    difference_text,
    find_in_any_project,
    titles_for,
)
from offdiag_web.components.metric_values import Notes, ShownValue, extent_of, interval_text, shown
from offdiag_web.pages.datasets.data import data_page
from offdiag_web.pages.datasets.verdict import title_inside
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.query_string import read_start
from offdiag_web.urls.run import run_url

_MOST_NAMED = 3
_LONGEST_NAME = 60
"""Longer than names in tables: in a sentence, nothing else identifies the run."""


def impact_sentence(impact: TruthImpact, metric: str) -> str:
    """ "With 10 labels corrected, 1 of 3 runs changed significantly: “a”; by MCC …"."""
    if impact.older is None or impact.difference is None:
        return (
            f"Version {impact.version.number} is the first of its samples; there is no earlier "
            "version to compare it with."
        )
    cause = _cause(impact.difference)
    if not impact.moved:
        return f"{cause}, nothing has changed yet: {_no_one(impact)}."
    return f"{cause}, {_beyond(impact)}; {_places(impact.moved, metric)}."


def _cause(difference: LabelDifference) -> str:
    total = len(difference)
    labels = numbers.plural(total, "label")
    if difference.n_corrected == total:
        return f"With {labels} corrected"
    if difference.n_newly_labelled == total:
        return f"With {labels} added"
    return f"With {labels} changed"


def _no_one(impact: TruthImpact) -> str:
    if impact.waiting:
        verb = "is" if len(impact.waiting) == 1 else "are"
        return f"{numbers.plural(len(impact.waiting), 'run')} {verb} queued for evaluation"
    return "no run was evaluated with both versions"


def _beyond(impact: TruthImpact) -> str:
    of = numbers.plural(len(impact.moved), "run")
    # The largest change comes first, and so does its run.
    names = list(dict.fromkeys(change.run_id for change in impact.beyond))
    if not names:
        return f"no metric of {of} changed significantly"
    by_id = {moved.run.id: moved.run.name for moved in impact.moved}
    listed = numbers.listed([_quoted(by_id[run_id]) for run_id in names], at_most=_MOST_NAMED)
    return f"{len(names)} of {of} changed significantly: {listed}"


def _places(moved: Sequence[MovedRun], metric: str) -> str:
    ranking = f"by {title_inside(metric)}"
    changes = []
    for each in moved:
        before, after = each.places[metric]
        if before is not None and after is not None and before != after:
            changes.append((after, before, each.run.name))
    if not changes:
        return f"the ranking {ranking} is unchanged"
    texts = [
        f"{_quoted(name)} {'rises' if after < before else 'falls'} from rank {before} to {after}"
        for after, before, name in sorted(changes)
    ]
    return f"{ranking} {numbers.listed(texts, at_most=_MOST_NAMED)}"


def _quoted(run_name: str) -> str:
    return f"“{numbers.shortened(run_name, longest=_LONGEST_NAME)}”"


RUNS_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ImpactLine:
    """One run. `verdict` says in words whether the new value is outside the old interval."""

    name: str
    url: str
    remark: str | None
    before: ShownValue
    interval: str | None
    mark: Markup | None
    after: ShownValue
    difference: str
    verdict: str
    is_beyond: bool
    place: str
    scored: str


MOST_NAMED = 10


def written(metric: str) -> str | None:
    """A metric as written in an address; the first one is left out."""
    return None if metric == next(iter(METRIC_TITLES)) else metric


def distance(moved: MovedRun, metric: str) -> float:
    """How far a value moved; becoming or ceasing to be undefined counts as farthest."""
    before, after = moved.values_of(metric)
    if before.value is None or after.value is None:
        return 0.0 if before.is_defined == after.is_defined else math.inf
    return abs(after.value - before.value)


def _scale(runs: Sequence[MovedRun], metric: str) -> Scale:
    bounds = SIGNED_UNIT if metric == "mcc" else UNIT
    extents = []
    for moved in runs:
        before, after = moved.values_of(metric)
        extent = extent_of(before)
        if extent is not None:
            reach = after.value if after.value is not None else extent.estimate
            low, high = min(extent.lowest, reach), max(extent.highest, reach)
            extents.append(Extent(extent.estimate, low, high))
    return fitted(extents, within=bounds)


def _line(
    impact: TruthImpact,
    moved: MovedRun,
    metric: str,
    scale: Scale,
    notes: Notes,
    *,
    is_beyond: bool,
    url: str,
) -> ImpactLine:
    before, after = moved.values_of(metric)
    interval = interval_text(before)
    return ImpactLine(
        name=moved.run.name,
        url=url,
        remark=_remark(impact, moved),
        before=shown(before, notes),
        interval=interval,
        mark=_mark(before, after, scale, stands_out=is_beyond),
        after=shown(after, notes),
        difference=difference_text(metric, before, after) or "",
        verdict=_verdict(before, after, is_beyond=is_beyond),
        is_beyond=is_beyond,
        place=place_text(*moved.places[metric]),
        scored=_scored_text(moved),
    )


def _mark(
    before: MetricValue, after: MetricValue, scale: Scale, *, stands_out: bool
) -> Markup | None:
    extent = extent_of(before)
    if extent is None:
        return None
    now = "undefined" if after.value is None else numbers.metric(after.value)
    return interval_mark(
        extent,
        scale=scale,
        name=f"Before {numbers.metric(extent.estimate)} with its interval, now {now}",
        baseline=after.value,
        stands_out=stands_out,
    )


def _verdict(before: MetricValue, after: MetricValue, *, is_beyond: bool) -> str:
    if before.is_defined != after.is_defined:
        return "became defined" if after.is_defined else "became undefined"
    if before.value is None:
        return "undefined in both"
    if before.ci_low is None:
        return "had no interval"
    return "significant" if is_beyond else "not significant"


def place_text(before: int | None, after: int | None) -> str:
    """ "3 → 1, up 2"; "2, as before"; words if a value is undefined and so has no rank."""
    if after is None:
        return "none" if before is None else f"{before} → none"
    if before is None:
        return f"none → {after}"
    if before == after:
        return f"{after}, as before"
    steps = abs(after - before)
    return f"{before} → {after}, {'up' if after < before else 'down'} {steps}"


def _scored_text(moved: MovedRun) -> str:
    before, after = moved.before, moved.after
    now = numbers.labelled(after.n_labelled, after.n_cases)
    if before.n_labelled == after.n_labelled:
        return now
    return f"{numbers.count(before.n_labelled)} → {now}"


def _remark(impact: TruthImpact, moved: MovedRun) -> str | None:
    """What else differs between the two scores, or that other versions had to be compared."""
    remarks = []
    numbers_now = (moved.before.truth_number, moved.after.truth_number)
    expected = (impact.older.number if impact.older else 0, impact.version.number)
    if numbers_now != expected:
        remarks.append(f"scored with v{numbers_now[0]} and v{numbers_now[1]} only")
    if moved.before.suite_version != moved.after.suite_version:
        suites = f"{moved.before.suite_version} → {moved.after.suite_version}"
        remarks.append(f"metric suite {suites} too")
    return "; ".join(remarks) or None


def _links(runs: Sequence[ScoredRun]) -> tuple[Link, ...]:
    return tuple(Link(run.name, run_url(run.id)) for run in runs[:MOST_NAMED])


def _new(runs: Sequence[ScoredRun]) -> str | None:
    if not runs:
        return None
    verb = "was" if len(runs) == 1 else "were"
    return f"{numbers.plural(len(runs), 'run')} {verb} never evaluated with the previous version."


blueprint = Blueprint("truth_impact", __name__)
find_in_any_project(blueprint)

_PATH = f"{DATASET}/truth/<{VERSION}:number>/impact"


@blueprint.get(_PATH)
def page(name: str, number: int) -> Response:
    return _page(name, number)


@blueprint.post(f"{DATASET}/truth/<{VERSION}:number>/undo")
def undo(name: str, number: int) -> Response:
    """Restore the labels that a version changed, in another new version."""
    project = requested_project()
    try:
        made = undo_version(
            current_registry().database,
            project=project,
            dataset=name,
            number=number,
            reason=request.form.get("reason", ""),
            author=user_name_if_given(),
        )
    except (Conflict, InvalidInput) as error:
        return _page(name, number, failure_of(error))
    except NotFound as error:
        if error.field != "version":
            raise
        return data_page(name, failure_of(error))
    return redirect(DatasetAddress(project, name).impact_url(made.version.number), 303)


def _page(name: str, number: int, failure: Failure | None = None) -> Response:
    impact = _impact(name, number)
    metric, notices = _requested_metric(impact)
    start, more = read_start(request.args)
    address = DatasetAddress(requested_project(), name)
    titles = titles_for(impact.dataset.task)
    ordered = sorted(impact.moved, key=lambda moved: -distance(moved, metric))
    pages = paging(
        len(ordered),
        start,
        per_page=RUNS_PER_PAGE,
        words=("run", "runs"),
        url=lambda at: address.impact_url(number, metric=written(metric), start=at),
    )
    shown_runs = ordered[pages.start : pages.end]
    scale = _scale(shown_runs, metric)
    beyond = {(change.run_id, change.metric) for change in impact.beyond}
    notes = Notes()
    html = render_template(
        "datasets/impact.html",
        number=number,
        parent=None if impact.older is None else impact.older.number,
        sentence=impact_sentence(impact, metric),
        reason=impact.version.reason,
        author=impact.version.author,
        metric_title=titles[metric],
        metrics=tuple(
            Segment(title, address.impact_url(number, metric=written(key)), key == metric)
            for key, title in titles.items()
        ),
        ends=scale.ends,
        lines=tuple(
            _line(
                impact,
                moved,
                metric,
                scale,
                notes,
                is_beyond=(moved.run.id, metric) in beyond,
                url=run_url(moved.run.id),
            )
            for moved in shown_runs
        ),
        has_parts=any(
            side.n_labelled < side.n_cases
            for moved in impact.moved
            for side in (moved.before, moved.after)
        ),
        paging=pages,
        waiting=_links(impact.waiting),
        n_waiting_hidden=max(len(impact.waiting) - MOST_NAMED, 0),
        failed=_links(impact.failed),
        new=_new(impact.new),
        cut=f"Only the newest {numbers.count(MOST_RUNS)} runs are compared."
        if impact.is_cut
        else None,
        notes=tuple(notes.texts),
        address=address,
        own_url=address.impact_url(number, metric=written(metric), start=start),
        notices=[*notices, *more],
        failure=failure,
    )
    return make_response(html, REFUSED if failure else 200)


@blueprint.get(f"{_PATH}{DATA_FORMAT}")
def export(name: str, number: int, form: str) -> Response:
    impact = _impact(name, number)
    metric, _ = _requested_metric(impact)
    if form == "json":
        return json_response(
            ImpactInWords(
                **dict(impact_document(impact)),
                metric=metric,
                sentence=impact_sentence(impact, metric),
            )
        )
    which = f"-newest-{MOST_RUNS}-runs" if impact.is_cut else ""
    file_name = f"impact-of-truth-v{number}{which}"
    return csv_response(file_name, IMPACT_COLUMNS, impact_rows(impact))


def _impact(name: str, number: int) -> TruthImpact:
    return truth_impact(
        current_registry().database, project=requested_project(), dataset=name, number=number
    )


def _requested_metric(impact: TruthImpact) -> tuple[str, list[str]]:
    """The metric that ranks, with a notice if the requested one does not exist."""
    known = titles_for(impact.dataset.task)
    default = next(iter(known))
    asked = request.args.get("metric") or default
    if asked in known:
        return asked, []
    return default, [f"Runs are not ranked by “{asked}” here; use {', '.join(known)}."]
