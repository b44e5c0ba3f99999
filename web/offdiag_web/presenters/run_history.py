"""The evaluations of a run through time, each against the one before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from offdiag.domain.values import MetricValue
from offdiag.services.browse_history import MOST_EVALUATIONS, RunHistory
from offdiag.store.queries.run_history import PastEvaluation
from offdiag_web.exports import Cell
from offdiag_web.presenters import numbers
from offdiag_web.presenters.dataset_page import labelled_text
from offdiag_web.presenters.differences import METRIC_TITLES, difference_text
from offdiag_web.presenters.times import Moment, moment, spell_short
from offdiag_web.presenters.values import Notes, ShownValue, interval_text, shown

HISTORY_COLUMNS = (
    *("computed_at", "is_current", "truth_version", "suite_version", "engine_version"),
    *("n_labelled", "n_cases", "input_digest", "metric", "value", "ci_low", "ci_high"),
)
_ABSENT = MetricValue(None, reason="not_computed")


@dataclass(frozen=True, slots=True)
class HistoryCell:
    """A value, its interval, and how it differs from the evaluation before."""

    value: ShownValue
    interval: str | None
    difference: str | None


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One evaluation; `differed` names what was not as in the one before."""

    computed: Moment
    took: str
    is_current: bool
    truth: str
    suite: str
    engine: str
    scored: str
    differed: tuple[str, ...]
    cells: tuple[HistoryCell, ...]


@dataclass(frozen=True, slots=True)
class HistoryView:
    """All lines, newest first, below the names of the values they hold."""

    titles: tuple[str, ...]
    lines: tuple[HistoryLine, ...]
    cut: str | None
    notes: tuple[str, ...]


def history_view(history: RunHistory, *, now: datetime) -> HistoryView:
    """Present the history of a run."""
    notes = Notes()
    pairs: list[tuple[PastEvaluation, PastEvaluation | None]] = [*pairwise(history.evaluations)]
    if history.evaluations:
        pairs.append((history.evaluations[-1], None))
    return HistoryView(
        titles=tuple(METRIC_TITLES.values()),
        lines=tuple(_line(each, before, notes, now) for each, before in pairs),
        cut=f"Only the newest {MOST_EVALUATIONS} evaluations are shown."
        if history.is_cut
        else None,
        notes=tuple(notes.texts),
    )


def _line(
    each: PastEvaluation, before: PastEvaluation | None, notes: Notes, now: datetime
) -> HistoryLine:
    return HistoryLine(
        computed=moment(each.computed_at, now=now),
        took=spell_short(each.duration_s),
        is_current=each.is_current,
        truth="none" if each.truth_number is None else f"v{each.truth_number}",
        suite=str(each.suite_version),
        engine=each.engine_version,
        scored=labelled_text(each.n_labelled, each.n_cases),
        differed=("first evaluation",) if before is None else tuple(what_differed(before, each)),
        cells=tuple(_cell(key, each, before, notes) for key in METRIC_TITLES),
    )


def what_differed(before: PastEvaluation, after: PastEvaluation) -> Sequence[str]:
    """The inputs of two evaluations that are not the same, in words."""
    found = []
    if before.truth_number != after.truth_number:
        found.append(f"truth v{before.truth_number} → v{after.truth_number}")
    if before.suite_version != after.suite_version:
        found.append(f"metric suite {before.suite_version} → {after.suite_version}")
    if before.n_cases != after.n_cases:
        cases = f"{numbers.count(before.n_cases)} → {numbers.count(after.n_cases)}"
        found.append(f"predictions {cases}")
    if before.n_labelled != after.n_labelled:
        new = numbers.signed(after.n_labelled - before.n_labelled)
        found.append(f"{new} scored")
    if before.engine_version != after.engine_version:
        found.append(f"offdiag {before.engine_version} → {after.engine_version}")
    return found or ["the same inputs by another route"]


def _cell(
    key: str, each: PastEvaluation, before: PastEvaluation | None, notes: Notes
) -> HistoryCell:
    value = each.metrics.get(key, _ABSENT)
    difference = None
    if before is not None:
        difference = difference_text(key, before.metrics.get(key, _ABSENT), value)
    return HistoryCell(shown(value, notes), interval_text(value), difference)


def history_record(history: RunHistory) -> dict[str, object]:
    """The history for the JSON twin, newest first."""
    return {
        "run": history.detail.run.id,
        "evaluations": [
            {
                "computed_at": each.computed_at.isoformat(),
                "duration_s": each.duration_s,
                "is_current": each.is_current,
                "truth_version": each.truth_number,
                "suite_version": each.suite_version,
                "engine_version": each.engine_version,
                "input_digest": each.input_digest,
                "n_labelled": each.n_labelled,
                "n_cases": each.n_cases,
                "aggregate": {key: value.to_dict() for key, value in each.metrics.items()},
            }
            for each in history.evaluations
        ],
        "is_cut": history.is_cut,
    }


def history_rows(history: RunHistory) -> list[tuple[Cell, ...]]:
    """One line per evaluation and metric for the CSV twin."""
    return [
        (
            each.computed_at.isoformat(),
            int(each.is_current),
            each.truth_number,
            each.suite_version,
            each.engine_version,
            each.n_labelled,
            each.n_cases,
            each.input_digest,
            key,
            value.value,
            value.ci_low,
            value.ci_high,
        )
        for each in history.evaluations
        for key, value in each.metrics.items()
    ]
