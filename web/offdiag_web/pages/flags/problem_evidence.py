"""The evidence of a problem: its state in words, a chart by its cause, and the best run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from offdiag.domain.number_text import amounts_for, number
from offdiag.domain.slices import Slice, SliceTerm, parse_slice
from offdiag.flags.problems import Cause, Problem, ProblemState
from offdiag.metrics.metric_text import PER_CASES
from offdiag.services.evaluation.slice_counts import kept_findings
from offdiag.services.flags.rules import thresholds_in
from offdiag.store.database import Session
from offdiag.store.flag_inbox import flagged_run
from offdiag.store.problem_values import MEASURED, Measured
from offdiag.store.ranked_runs import highest_runs
from offdiag_web.app.context import current_registry
from offdiag_web.charts.marks import IN_PANEL, interval_mark
from offdiag_web.charts.svg import UNIT, Extent, fitted, spanning
from offdiag_web.charts.trend import trend
from offdiag_web.components import numbers
from offdiag_web.components.controls import Chip
from offdiag_web.components.metric_values import extent_of
from offdiag_web.pages.flags.recall_by_size import recall_floor, size_chart
from offdiag_web.urls.run import slice_url

METRIC_WORDS = {
    "recall": "Recall",
    "precision": "Precision",
    "balanced_accuracy": "Balanced accuracy",
    "overall_accuracy": "Accuracy",
    "subset_accuracy": "Subset accuracy",
}
MOST_RANKED, MOST_READ = 5, 200
"""Most runs by cost that are shown, and among which the run of the problem is searched."""
_WITH_SIZES = (Cause.MISSED, Cause.FEW_LABELS, Cause.HIDES)


_CHIPS = {
    ProblemState.ACCEPTED: Chip("accepted", "neutral"),
    ProblemState.SNOOZED: Chip("snoozed", "busy"),
    ProblemState.DISMISSED: Chip("not a problem", "neutral"),
    ProblemState.CLOSED: Chip("closed", "good"),
}


def problem_chip(problem: Problem) -> Chip | None:
    """The state of a problem; None if it is open."""
    return _CHIPS.get(problem.state)


def run_count(problem: Problem) -> str:
    """ "39/40", the affected runs of a problem."""
    return numbers.hits_of(len(problem.affected), len(problem.runs))


def day_of(moment: datetime, now: datetime) -> str:
    """ "22 Sep", with the year if it is not the current one."""
    text = f"{moment.day} {moment:%b}"
    return text if moment.year == now.year else f"{text} {moment.year}"


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A run by its cost per 1,000 examples, or a slice; `is_shown` marks that of the problem."""

    name: str
    url: str
    value: str
    mark: Markup
    is_shown: bool


@dataclass(frozen=True, slots=True)
class EvidenceChart:
    """A drawing, or lines; `of` says what the lines are."""

    title: str
    drawing: Markup | None = None
    of: str = "Run"
    lines: tuple[ChartLine, ...] = ()


def evidence_chart(session: Session, problem: Problem, measured: Measured) -> EvidenceChart | None:
    """Recall by class size or slice, the trend of the metric, or runs by cost."""
    cause = problem.key.cause
    if cause is Cause.SLICE:
        return _by_slice(session, problem, measured)
    if cause is Cause.COST:
        return _by_cost(session, problem, measured)
    sizes = _by_size(session, problem, measured) if cause in _WITH_SIZES else None
    return sizes or _over_runs(problem, measured)


def _by_size(session: Session, problem: Problem, measured: Measured) -> EvidenceChart | None:
    flagged = flagged_run(session, measured.flag_id)
    if flagged is None or flagged.results is None:
        return None
    counted, label = flagged.results.counted, problem.key.class_label or None
    gap = thresholds_in(current_registry().settings.flags).recall_gap
    found = size_chart(
        counted, recall_floor(counted, gap=gap, class_label=label), class_label=label
    )
    return None if found is None else EvidenceChart("Recall against class size", found.drawing)


def _over_runs(problem: Problem, measured: Measured) -> EvidenceChart | None:
    """The trend chart; None for fewer than two runs."""
    known = [value for value in measured.trend if value is not None]
    if len(known) < 2:
        return None
    places = {run.id: place for place, run in enumerate(reversed(problem.runs))}
    ringed = [places[measured.run_id]] if problem.key.cause is Cause.DROP else []
    points = [None if value is None else Extent(value) for value in measured.trend]
    title = f"{METRIC_WORDS[MEASURED[problem.key.cause]]} by run"
    name = f"{title}, oldest first: {number(known[0])} to {number(known[-1])}"
    scale = fitted([point for point in points if point is not None], within=UNIT)
    if ringed:
        name += "; ringed: the drop"
    drawing = trend(points, scale=scale, name=name, ringed=ringed)
    return EvidenceChart(title, drawing)


def _by_slice(session: Session, problem: Problem, measured: Measured) -> EvidenceChart | None:
    """Every value of the slice's column, or for a deeper slice only the slice and its terms."""
    findings = kept_findings(session, measured.run_id)
    label = problem.key.class_label
    if findings is None or (label and label not in findings.labels):
        return None
    found, terms = findings.found, parse_slice(problem.key.slice).terms
    choices = [SliceTerm(*each) for each in found.counts.choice_names]
    parts = [Slice(terms), *(Slice((term,)) for term in terms)]
    if len(terms) == 1:
        parts = [Slice((each,)) for each in choices if each.name == terms[0].name]
    gaps = [
        (part, found.of_slice(part.pairs, findings.labels.index(label) if label else None))
        for part in parts
    ]
    what = f"Recall of {numbers.shortened(label, longest=30)}" if label else "Accuracy"
    lines = tuple(
        ChartLine(
            str(part),
            slice_url(measured.run_id, str(part), label or None),
            f"{numbers.count(gap.hits or 0)} of {numbers.count(gap.cases)}",
            interval_mark(
                Extent(gap.value, gap.low, gap.high),
                scale=UNIT,
                name=f"{what} {numbers.metric(gap.value)}; dashed: the rest, "
                f"{numbers.metric(gap.rest)}",
                baseline=gap.rest,
                stands_out=gap.is_significant and gap.gap < 0,
                canvas=IN_PANEL,
            ),
            str(part) == problem.key.slice,
        )
        for part, gap in gaps
        if gap is not None and gap.cases
    )
    return EvidenceChart(f"{what} by slice", of="Slice", lines=lines) if lines else None


def _by_cost(session: Session, problem: Problem, measured: Measured) -> EvidenceChart | None:
    """The chart by cost; None for a run with sample weights, whose costs are not comparable."""
    if measured.is_weighted:
        return None
    ranked = highest_runs(
        session, problem.key.dataset_id, "mean_cost", lower_is_better=True, limit=MOST_READ
    )
    shown = [run for run in ranked[MOST_RANKED:] if run.id == measured.run_id]
    runs = [*ranked[:MOST_RANKED], *shown]
    extents = {
        run.id: extent
        for run in runs
        if (extent := extent_of(run.value, times=PER_CASES)) is not None
    }
    if not extents:
        return None
    scale = spanning([end for each in extents.values() for end in (each.lowest, each.highest)])
    amounts = amounts_for([each.estimate for each in extents.values()])
    return EvidenceChart(
        f"Cost per {PER_CASES:,}",
        lines=tuple(
            ChartLine(
                run.name,
                f"/runs/{run.id}",
                amounts.text(extents[run.id].estimate),
                interval_mark(
                    extents[run.id],
                    scale=scale,
                    name=f"95 % CI {amounts.text(extents[run.id].lowest)} to "
                    f"{amounts.text(extents[run.id].highest)}",
                    canvas=IN_PANEL,
                ),
                run.id == measured.run_id,
            )
            for run in runs
            if run.id in extents
        ),
    )
