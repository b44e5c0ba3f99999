"""One line of the runs list: numbers with marks on the scale of their column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from offdiag.domain.values import MetricValue
from offdiag.store.queries.run_entries import RunEntry
from offdiag_web.addresses.run_list import ScaleChoice
from offdiag_web.charts.interval import interval_mark
from offdiag_web.charts.scale import SIGNED_UNIT, UNIT, Scale, fitted
from offdiag_web.presenters import numbers
from offdiag_web.presenters.baselines import majority_scores
from offdiag_web.presenters.chips import Chip, orientation_warning, state_chip, tag_text
from offdiag_web.presenters.times import Moment, moment
from offdiag_web.presenters.values import Notes, ShownValue, extent_of, interval_text, shown


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """A column of numbers and the column of marks beside it."""

    key: str
    order: str
    title: str
    bounds: Scale


METRIC_COLUMNS = (
    MetricColumn("overall_accuracy", "acc", "Accuracy", UNIT),
    MetricColumn("balanced_accuracy", "bal", "Balanced accuracy", UNIT),
    MetricColumn("mcc", "mcc", "MCC", SIGNED_UNIT),
)
WORST_COLUMN = MetricColumn("recall", "worst", "Worst class recall", UNIT)


@dataclass(frozen=True, slots=True)
class MetricCell:
    """A number and its mark; no mark where the value is undefined."""

    value: ShownValue
    mark: Markup | None
    interval: str | None = None


@dataclass(frozen=True, slots=True)
class WorstCell:
    """The class a run is worst at: its name, found of all, mark."""

    label: str
    short_label: str
    found: str
    mark: Markup | None


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. `state` stands in place of the metrics of a run that has none."""

    short_id: str
    name: str
    url: str
    model: str | None
    dataset: str
    author: str | None
    tags: tuple[str, ...]
    n_cases: str
    logged: Moment
    warning: Chip | None
    state: Chip | None
    metrics: tuple[MetricCell, ...]
    worst: WorstCell | None


def column_scale(column: MetricColumn, entries: Sequence[RunEntry], choice: ScaleChoice) -> Scale:
    if choice == "full":
        return UNIT if column.bounds is UNIT else SIGNED_UNIT
    values = [entry.metrics.get(column.key) for entry in entries]
    extents = [extent_of(value) for value in values if value is not None]
    return fitted([extent for extent in extents if extent is not None], within=column.bounds)


def run_row(
    entry: RunEntry,
    scales: Sequence[Scale],
    worst_scale: Scale,
    *,
    notes: Notes,
    now: datetime,
    url: str,
) -> RunRow:
    warning = orientation_warning(entry.source, entry.orientation_verdict)
    state = None
    if not entry.metrics:
        state = state_chip(entry.state, work=entry.work, n_predictions=entry.n_cases, now=now)
    baselines = majority_scores(entry.metrics)
    return RunRow(
        short_id=entry.id[:8],
        name=entry.name,
        url=url,
        model=entry.model,
        dataset=entry.dataset,
        author=entry.author,
        tags=tuple(tag_text(key, value) for key, value in sorted(entry.tags.items())),
        n_cases=numbers.count(entry.n_cases),
        logged=moment(entry.created_at, now=now),
        warning=Chip(warning.headline.rstrip("."), "warning") if warning else None,
        state=state,
        metrics=()
        if state
        else tuple(
            _metric_cell(
                entry.metrics.get(column.key), column, scale, baselines.get(column.key), notes
            )
            for column, scale in zip(METRIC_COLUMNS, scales, strict=True)
        ),
        worst=None if state else _worst_cell(entry, worst_scale),
    )


def _metric_cell(
    value: MetricValue | None,
    column: MetricColumn,
    scale: Scale,
    baseline: float | None,
    notes: Notes,
) -> MetricCell:
    text = shown(value, notes)
    extent = None if value is None else extent_of(value)
    if value is None or extent is None:
        return MetricCell(text, None)
    interval = interval_text(value)
    words = [f"95 % interval {interval}" if interval else "no interval"]
    if baseline is not None:
        words.append(f"majority baseline {numbers.metric(baseline)}")
    name = f"{column.title}: {', '.join(words)}"
    mark = interval_mark(extent, scale=scale, name=name, baseline=baseline)
    return MetricCell(text, mark, interval)


def _worst_cell(entry: RunEntry, scale: Scale) -> WorstCell | None:
    worst = entry.worst_class
    if worst is None:
        return None
    extent = extent_of(worst.recall)
    interval = interval_text(worst.recall)
    found = numbers.hits_of(worst.hits, worst.support)
    name = f"Recall of the worst class {found}" + (
        f", 95 % interval {interval}" if interval else ""
    )
    return WorstCell(
        label=worst.label,
        short_label=numbers.shortened(worst.label, longest=18),
        found=found,
        mark=interval_mark(extent, scale=scale, name=name) if extent else None,
    )
