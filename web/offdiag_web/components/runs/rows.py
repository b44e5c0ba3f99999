"""Runs as rows of a table: columns of metrics with marks, and the hidden-minority warning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from offdiag.domain.values import MetricValue
from offdiag.filters.parsing import read_metric
from offdiag.flags.warning import named
from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope
from offdiag.store.run_order import order_by
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.marks import IN_TABLE, Canvas, interval_mark
from offdiag_web.charts.svg import UNIT, Scale, fitted, spanning
from offdiag_web.components import metric_values, numbers
from offdiag_web.components.controls import CLASSES, Chip, ClassWords, state_chip
from offdiag_web.components.metric_values import (
    Notes,
    ShownValue,
    extent_of,
    interval_name,
    interval_text,
    shown,
)
from offdiag_web.components.tiles import CUSTOM, majority_scores, range_scale
from offdiag_web.urls.flags import problems_of_run
from offdiag_web.urls.run_list import ScaleChoice, is_of_slices

OFFERED = (
    *("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "weighted_f1", "cohen_kappa"),
    *("macro_recall", "macro_precision", "gmean_multiclass", "roc_auc", "roc_auc_ovr_macro"),
    *("average_precision", "log_loss", "brier_sum", "ece_top_label_15", "mean_cost"),
    *("subset_accuracy", "hamming_loss", "example_jaccard", "micro_f1"),
    *(spec.key for spec in CUSTOM),
)
"""Metrics that the chooser lists; addresses may name any other."""
ONLY_OF_SETS = frozenset({"subset_accuracy", "hamming_loss", "example_jaccard"})
ONLY_OF_CLASSES = frozenset(
    {"overall_accuracy", "balanced_accuracy", "mcc", "cohen_kappa", "gmean_multiclass"}
)
"""Metrics of only one kind of runs: with sets of labels, or with one class per sample."""


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """A column of numbers with marks; `bounds` is None if the metric is unbounded."""

    key: str
    order: str
    title: str
    bounds: Scale | None


def metric_column(key: str) -> MetricColumn:
    """The column of a metric of whole runs, or of slices as written in filters."""
    if is_of_slices(key):
        return _slice_column(key)
    spec = _spec(key)
    return MetricColumn(
        key=key,
        order=order_by(key).name,
        title=_TITLES.get(key, spec.title),
        bounds=range_scale(spec),
    )


def _slice_column(key: str) -> MetricColumn:
    """ "Recall of mel, site=z", by which the list cannot be sorted."""
    found = read_metric(key)
    assert found is not None  # noqa: S101  # Addresses only contain canonical texts.
    spec = CATALOGUE[Scope.PER_CLASS].get(found.key) if found.class_label else _spec(found.key)
    assert spec is not None  # noqa: S101  # As above.
    title = _TITLES.get(spec.key, spec.title)
    of = "" if found.class_label is None else f" of {found.class_label}"
    where = f"{found.over} by {found.by}" if found.part is None else str(found.part)
    return MetricColumn(key, "", f"{title}{of}, {where}", range_scale(spec))


WORST_COLUMN = MetricColumn("recall", "worst", "Worst class recall", UNIT)


def column_scale(column: MetricColumn, entries: Sequence[RunEntry], choice: ScaleChoice) -> Scale:
    """The axis on which the marks of a column are drawn."""
    values = [entry.metrics.get(column.key) for entry in entries]
    extents = [extent_of(value) for value in values]
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
"""Titles short enough for column heads, for metrics whose catalogue title is too long."""


def _spec(key: str) -> MetricSpec:
    scopes = (Scope.AGGREGATE, Scope.MULTILABEL, Scope.PROBABILISTIC, Scope.COST)
    return next(CATALOGUE[scope][key] for scope in scopes if key in CATALOGUE[scope])


@dataclass(frozen=True, slots=True)
class MetricCell:
    """A number and its mark, which is missing if the value is undefined."""

    value: ShownValue
    mark: Markup | None
    interval: str | None = None


@dataclass(frozen=True, slots=True)
class WorstCell:
    """The class with the lowest recall: its name, its fraction found, its mark."""

    label: str
    short_label: str
    found: str
    mark: Markup | None


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. `state` takes the place of the metrics of a run that has none."""

    run: RunEntry
    short_id: str
    url: str
    n_shown: str
    logged: datetime
    state: Chip | None
    metrics: tuple[MetricCell, ...]
    worst: WorstCell | None


def drawn_together(entries: Sequence[RunEntry]) -> tuple[Sequence[RunEntry], str]:
    """Runs with comparable values, and a note: runs with sample weights only if all have some."""
    plain = [entry for entry in entries if not entry.is_weighted]
    if not plain or len(plain) == len(entries):
        return entries, ""
    left_out = numbers.plural(len(entries) - len(plain), "run")
    return plain, f"Not drawn: {left_out} with sample weights."


def run_row(
    entry: RunEntry,
    columns: Sequence[tuple[MetricColumn, Scale]],
    worst_scale: Scale,
    *,
    notes: Notes,
    now: datetime,
    url: str,
    words: ClassWords = CLASSES,
) -> RunRow:
    """Present one run. The marks also show the scores of always predicting the largest class."""
    state = run_state(entry, now=now)
    references = majority_scores(entry.metrics)
    return RunRow(
        run=entry,
        short_id=entry.id[:8],
        url=url,
        n_shown=numbers.count(entry.n_cases),
        logged=entry.created_at,
        state=state,
        metrics=()
        if state
        else tuple(
            metric_cell(
                entry.metrics.get(column.key),
                column,
                scale,
                notes,
                baseline=references.get(column.key),
            )
            for column, scale in columns
        ),
        worst=None if state else worst_cell(entry, worst_scale, words=words),
    )


def run_state(entry: RunEntry, *, now: datetime) -> Chip | None:
    """The state of a run without metrics; None for a run with metrics."""
    if entry.metrics or entry.is_evaluated:
        return None
    return state_chip(entry.state, work=entry.work, n_predictions=entry.n_cases, now=now)


def metric_cell(
    value: MetricValue | None,
    column: MetricColumn,
    scale: Scale,
    notes: Notes,
    *,
    baseline: float | None,
    reference: str = "majority baseline",
    canvas: Canvas = IN_TABLE,
    css_class: str = "",
) -> MetricCell:
    """A number with its mark, which shows `baseline` too; `reference` says what that is."""
    text = shown(value, notes)
    extent = extent_of(value)
    if value is None or extent is None:
        return MetricCell(text, None)
    interval = interval_text(value)
    words = [interval_name(interval)]
    if baseline is not None:
        words.append(f"{reference} {numbers.metric(baseline)}")
    name = f"{column.title}: {', '.join(words)}"
    mark = interval_mark(
        extent,
        scale=scale,
        name=name,
        baseline=baseline,
        canvas=canvas,
        css_class=css_class,
    )
    return MetricCell(text, mark, interval)


def minority_chip(entry: RunEntry, *, longest: int = 12) -> Chip | None:
    """The class that the accuracy hides, with a link to the flags that say so."""
    badge = entry.badge
    if badge is None:
        return None
    first = badge.classes[0]
    words = ["all but one" if first is None else numbers.shortened(first, longest=longest)]
    if first is not None and badge.n_classes > 1:
        words.append(f"+{numbers.count(badge.n_classes - 1)}")
    every = ", ".join(name or "all but one class" for name in badge.classes)
    return Chip(
        f"{'hides' if badge.is_proved else 'may hide'} {' '.join(words)}",
        "hides" if badge.is_proved else "may-hide",
        detail=f"Hidden minority: accuracy {'hides' if badge.is_proved else 'may hide'} {every}",
        url=problems_of_run(entry.id),
    )


def worst_cell(
    entry: RunEntry,
    scale: Scale,
    *,
    longest: int = 18,
    canvas: Canvas = IN_TABLE,
    css_class: str = "",
    words: ClassWords = CLASSES,
) -> WorstCell | None:
    """The class with the lowest recall; None if no class has examples."""
    worst = entry.worst_class
    if worst is None:
        return None
    extent = extent_of(worst.recall)
    interval = interval_text(worst.recall)
    if worst.hits is None or worst.support is None:
        found = metric_values.known(worst.recall)
    else:
        found = numbers.hits_of(worst.hits, worst.support)
    name = f"Recall of the worst {words.one} {found}" + (
        f", 95 % interval {interval}" if interval else ""
    )
    return WorstCell(
        label=worst.label,
        short_label=named(worst.label, longest=longest),
        found=found,
        mark=interval_mark(extent, scale=scale, name=name, canvas=canvas, css_class=css_class)
        if extent
        else None,
    )
