"""Runs in tables: columns of metrics and their axes, and the state of a run without metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.runs import WorstClass
from offdiag.filters.parsing import read_metric
from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope
from offdiag.store.run_order import order_by
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.svg import UNIT, Scale, fitted, spanning
from offdiag_web.components import metric_values, numbers
from offdiag_web.components.controls import Chip, state_chip
from offdiag_web.components.metric_values import extent_of
from offdiag_web.components.tiles import CUSTOM, range_scale
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


def drawn_together(entries: Sequence[RunEntry]) -> tuple[Sequence[RunEntry], str]:
    """Runs with comparable values, and a note: runs with sample weights only if all have some."""
    plain = [entry for entry in entries if not entry.is_weighted]
    if not plain or len(plain) == len(entries):
        return entries, ""
    left_out = numbers.plural(len(entries) - len(plain), "run")
    return plain, f"Not drawn: {left_out} with sample weights."


def run_state(entry: RunEntry, *, now: datetime) -> Chip | None:
    """The state of a run without metrics; None for a run with metrics."""
    if entry.metrics or entry.is_evaluated:
        return None
    return state_chip(entry.state, work=entry.work, n_predictions=entry.n_cases, now=now)


def found_text(worst: WorstClass) -> str:
    """How many examples of a class were found, as "11/17", or its recall."""
    if worst.hits is None or worst.support is None:
        return metric_values.known(worst.recall)
    return numbers.hits_of(worst.hits, worst.support)
