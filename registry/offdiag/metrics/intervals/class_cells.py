"""Every metric of K classes whose scores were counted in cells, a class at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.cells import (
    calibration_values,
    ranking_values,
    widened,
)
from offdiag.metrics.intervals.means import mean_loss_intervals
from offdiag.metrics.intervals.proportions import WILSON, wilson
from offdiag.metrics.scores.class_cells import ClassCells
from offdiag.metrics.scores.isotonic import explained_range, parts_of
from offdiag.metrics.scores.losses import mean_losses
from offdiag.metrics.scores.suite import top_k_keys

NO_SHARED = "no interval: counts of single classes do not tell which examples they share"
"""Why an average over classes, and a sum over the classes of an example, has no interval."""
_OF_SUMS = ("brier_sum", "brier_half")


@dataclass(frozen=True)
class ClassCellValues:
    """Aggregates by key, and K values in label order for each key of classes."""

    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, list[MetricValue]]


def class_cell_values(
    cells: ClassCells, *, seed: int, confidence: float = 0.95
) -> ClassCellValues:
    """All metrics of K > 2 classes, of n >= 1 samples.

    The keys are those that the probabilities themselves would give. Those of pairs of classes,
    of ranks within an example and of single forecasts are undefined.
    """
    events = cells.events
    of_class = [ranking_values(event, confidence) for event in events]
    top = cells.top.event
    values = _averaged_areas([each["roc_auc"] for each in of_class], cells)
    of_top = calibration_values(top, "top_label", seed=seed, confidence=confidence)
    values |= {key: value for key, value in of_top.items() if not key.startswith("mce_")}
    values |= _losses(cells, confidence=confidence)
    values |= _brier_parts(cells, float(values["brier_sum"]))
    in_cells = MetricValue(None, Reason.FORECASTS_IN_CELLS.value)
    values |= dict.fromkeys(top_k_keys(len(events)), in_cells)
    values["top_1_accuracy"] = Interval(
        *wilson(np.int64(top.n_positive), top.n_samples, confidence=confidence).at(), WILSON
    ).around(MetricValue(top.n_positive / top.n_samples))
    return ClassCellValues(
        values,
        {key: [each[key] for each in of_class] for key in ("roc_auc", "average_precision")},
    )


def _averaged_areas(areas: list[MetricValue], cells: ClassCells) -> dict[str, MetricValue]:
    """One against the rest: the mean of the areas, off by at most the mean of their bounds."""
    ovr = {"macro": np.ones(len(areas)), "weighted": cells.support.astype(np.float64)}
    if not cells.support.all():
        absent = MetricValue(None, Reason.CLASS_VALUE_UNDEFINED.value)
        return {f"roc_auc_{kind}_{name}": absent for kind in ("ovr", "ovo") for name in ovr}
    found = [area.value for area in areas if area.value is not None]
    bounds = [area.error_bound or 0.0 for area in areas]
    values = {
        f"roc_auc_ovr_{name}": widened(
            f"roc_auc_ovr_{name}",
            MetricValue(float(np.average(found, weights=weights)), ci_method=NO_SHARED),
            float(np.average(bounds, weights=weights)),
        )
        for name, weights in ovr.items()
    }
    in_cells = MetricValue(None, Reason.FORECASTS_IN_CELLS.value)
    return values | {f"roc_auc_ovo_{name}": in_cells for name in ovr}


def _losses(cells: ClassCells, *, confidence: float) -> dict[str, MetricValue]:
    losses = cells.losses
    found = mean_loss_intervals(losses, cells.support, confidence=confidence)
    values = mean_losses(losses)
    values |= {
        key: replace(values[key], ci_method=NO_SHARED)
        if key in _OF_SUMS
        else interval.around(values[key])
        for key, interval in found.items()
    }
    values["log_loss_clipped"] = widened(
        "log_loss_clipped", values["log_loss_clipped"], cells.clipping_error
    )
    return values


def _brier_parts(cells: ClassCells, brier_sum: float) -> dict[str, MetricValue]:
    """Parts by isotonic regression of each class against the rest; none by forecast."""
    in_cells = MetricValue(None, Reason.FORECASTS_IN_CELLS.value)
    share = cells.support / cells.n_samples
    ranges = [explained_range(event) for event in cells.events]
    tied = sum(low for low, _ in ranges)
    found = parts_of(brier_sum, tied, concentration=float(np.square(share).sum()))
    error = sum(high for _, high in ranges) - tied
    return {
        "brier_reliability": in_cells,
        "brier_resolution": in_cells,
        "brier_uncertainty": MetricValue(float((share * (1 - share)).sum())),
        **{key: widened(key, value, error) for key, value in found.items()},
    }
