"""Runs as rows of a table: columns of metrics, marks, the hidden-minority warning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from markupsafe import Markup

from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope
from offdiag.store.run_ranks import BaselineValues
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.interval import interval_mark
from offdiag_web.charts.scale import UNIT, Scale, fitted, spanning
from offdiag_web.components import numbers
from offdiag_web.components.controls import (
    Chip,
    Moment,
    moment,
    orientation_warning,
    state_chip,
    tag_text,
)
from offdiag_web.components.tiles import CostCell, CostColumn, cost_cell, majority_scores
from offdiag_web.components.values import Notes, ShownValue, extent_of, interval_text, shown
from offdiag_web.urls.flags import FlagFields, FlagListAddress
from offdiag_web.urls.run_list import DEFAULT_COLUMNS, SHORT_NAMES, ScaleChoice

OFFERED = (
    *("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "weighted_f1", "cohen_kappa"),
    *("macro_recall", "macro_precision", "gmean_multiclass", "roc_auc", "roc_auc_ovr_macro"),
    *("average_precision", "log_loss", "brier_sum", "ece_top_label_15", "mean_cost"),
    *("subset_accuracy", "hamming_loss", "example_jaccard", "micro_f1"),
)
"""Metrics that the chooser names; any other can stand in the address."""
ONLY_OF_SETS = frozenset({"subset_accuracy", "hamming_loss", "example_jaccard"})
ONLY_OF_CLASSES = frozenset(
    {"overall_accuracy", "balanced_accuracy", "mcc", "cohen_kappa", "gmean_multiclass"}
)
"""Metrics that only runs of one kind have: with sets of labels, or with one class a case."""


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """A column of numbers with marks beside it; `bounds` is None where it has no ends."""

    key: str
    order: str
    title: str
    bounds: Scale | None


def metric_column(key: str) -> MetricColumn:
    """The column of a metric of whole runs."""
    spec = _spec(key)
    return MetricColumn(
        key=key,
        order=SHORT_NAMES.get(key, key),
        title=_TITLES.get(key, spec.title),
        bounds=_bounds(spec),
    )


def default_columns() -> tuple[MetricColumn, ...]:
    """The columns of a list that nobody chose others for."""
    return tuple(metric_column(key) for key in DEFAULT_COLUMNS)


WORST_COLUMN = MetricColumn("recall", "worst", "Worst class recall", UNIT)


def column_scale(column: MetricColumn, entries: Sequence[RunEntry], choice: ScaleChoice) -> Scale:
    """The axis on which the marks of a column are drawn."""
    values = [entry.metrics.get(column.key) for entry in entries]
    extents = [extent_of(value) for value in values if value is not None]
    known = [extent for extent in extents if extent is not None]
    if column.bounds is None:
        return spanning([end for extent in known for end in (extent.lowest, extent.highest)])
    return column.bounds if choice == "full" else fitted(known, within=column.bounds)


_TITLES = {
    "overall_accuracy": "Accuracy",
    "mcc": "MCC",
    "macro_f1": "Macro F1",
    "example_jaccard": "Jaccard",
}
"""Titles short enough for the head of a column, where those of the catalogue are not."""


def _spec(key: str) -> MetricSpec:
    scopes = (Scope.AGGREGATE, Scope.MULTILABEL, Scope.PROBABILISTIC, Scope.COST)
    return next(CATALOGUE[scope][key] for scope in scopes if key in CATALOGUE[scope])


def _bounds(spec: MetricSpec) -> Scale | None:
    if math.isinf(spec.low) or math.isinf(spec.high):
        return None
    return Scale(Decimal(repr(spec.low)), Decimal(repr(spec.high)))


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

    run: RunEntry
    short_id: str
    url: str
    tag_texts: tuple[str, ...]
    n_shown: str
    logged: Moment
    warning: Chip | None
    badge: Chip | None
    """Whether accuracy hides a minority class, or may hide one."""
    state: Chip | None
    metrics: tuple[MetricCell, ...]
    worst: WorstCell | None
    cost: CostCell | None = None


def run_row(
    entry: RunEntry,
    columns: Sequence[tuple[MetricColumn, Scale]],
    worst_scale: Scale,
    *,
    notes: Notes,
    now: datetime,
    url: str,
    baseline: BaselineValues | None = None,
    costs: CostColumn | None = None,
) -> RunRow:
    """Present one run. The marks show `baseline`, without one what the largest class scores."""
    warning = orientation_warning(entry.source, entry.orientation_verdict)
    state = None
    if not entry.metrics and not entry.is_evaluated:
        state = state_chip(entry.state, work=entry.work, n_predictions=entry.n_cases, now=now)
    if baseline is None:
        references = majority_scores(entry.metrics)
    else:
        known = {key: value.value for key, value in baseline.metrics.items()}
        references = {key: value for key, value in known.items() if value is not None}
    return RunRow(
        run=entry,
        short_id=entry.id[:8],
        url=url,
        tag_texts=tuple(tag_text(key, value) for key, value in sorted(entry.tags.items())),
        n_shown=numbers.count(entry.n_cases),
        logged=moment(entry.created_at, now=now),
        warning=Chip(warning.headline.rstrip("."), "warning") if warning else None,
        badge=_badge(entry),
        state=state,
        metrics=()
        if state
        else tuple(
            _metric_cell(
                entry.metrics.get(column.key),
                column,
                scale,
                notes,
                baseline=references.get(column.key),
                reference="majority baseline" if baseline is None else "baseline",
            )
            for column, scale in columns
        ),
        worst=None if state else _worst_cell(entry, worst_scale),
        cost=None if state or costs is None else cost_cell(entry, costs),
    )


def _metric_cell(
    value: MetricValue | None,
    column: MetricColumn,
    scale: Scale,
    notes: Notes,
    *,
    baseline: float | None,
    reference: str,
) -> MetricCell:
    text = shown(value, notes)
    extent = None if value is None else extent_of(value)
    if value is None or extent is None:
        return MetricCell(text, None)
    interval = interval_text(value)
    words = [f"95 % interval {interval}" if interval else "no interval"]
    if baseline is not None:
        words.append(f"{reference} {numbers.metric(baseline)}")
    name = f"{column.title}: {', '.join(words)}"
    mark = interval_mark(extent, scale=scale, name=name, baseline=baseline)
    return MetricCell(text, mark, interval)


def _badge(entry: RunEntry) -> Chip | None:
    """The classes that the accuracy hides, leading to the flags that say so."""
    badge = entry.badge
    if badge is None:
        return None
    if badge.classes[0] is None:
        text = "hides all but one class"
    else:
        named = [numbers.shortened(name or "", longest=12) for name in badge.classes]
        others = badge.n_classes - len(named)
        text = ", ".join(named) + (f" +{numbers.count(others)}" if others else "")
        text = f"{'hides' if badge.is_proved else 'may hide'} {text}"
    return Chip(
        text,
        "hides" if badge.is_proved else "may-hide",
        url=FlagListAddress(None, FlagFields(run=entry.id)).url(),
    )


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
