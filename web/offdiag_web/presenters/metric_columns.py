"""Which metric stands in a column of the runs list, and on which axis its marks are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from offdiag.metrics.catalogue import CATALOGUE, MetricSpec, Scope
from offdiag.store.run_rows import RunEntry
from offdiag_web.charts.scale import UNIT, Scale, fitted, spanning
from offdiag_web.presenters.values import extent_of
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
