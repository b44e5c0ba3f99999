"""Metrics of scores that were counted in cells: value, interval, and the error bounds of both.

Intervals are those of the scores themselves, computed from the cells, with both ends moved out by
the error bound of the value. A calibration error has no interval here either, but is compared
with what a calibrated model would show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from offdiag.domain.values import MetricValue, Reason, off_by
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.calibration import calibration_intervals
from offdiag.metrics.intervals.discrimination import ks_interval
from offdiag.metrics.intervals.draws import INTERVAL_SEED
from offdiag.metrics.intervals.means import mean_loss_intervals
from offdiag.metrics.intervals.proportions import WILSON, wilson
from offdiag.metrics.intervals.scores import class_interval
from offdiag.metrics.scores.calibration import (
    DEFAULT_BINS,
    equal_mass_bins,
    equal_mass_places,
    equal_width_bins,
    expected_calibration_error,
    maximum_calibration_error,
)
from offdiag.metrics.scores.discrimination import average_precision, ks, roc_auc
from offdiag.metrics.scores.isotonic import explained_range, of_two, parts_of
from offdiag.metrics.scores.losses import mean_losses
from offdiag.metrics.scores.ranked_cells import RankedCells
from offdiag.metrics.scores.score_cells import OUTCOME_AXIS, POSITIVE, ClassCells, ScoreCells
from offdiag.metrics.scores.suite import top_k_keys

_LEVEL = 0.95
_RANKING = ("roc_auc", "average_precision")
_OF_SUMS = ("brier_sum", "brier_half")
_IN_CELLS = MetricValue(None, Reason.FORECASTS_IN_CELLS.value)
NO_SHARED = "no interval: counts of single classes do not show which examples they share"
"""Why averages over classes, and sums over the classes of an example, have no interval."""


@dataclass(frozen=True)
class CellValues:
    """Aggregates by key, and per-class keys with the values of all classes in label order."""

    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, Sequence[MetricValue]]


def cell_values(cells: ScoreCells, *, positive: int) -> CellValues:
    """All metrics of two classes; the scores are those of class `positive` (0 or 1), n >= 1.

    The keys are the same as for the probabilities themselves.
    """
    event = cells.event
    top = cells.top_label(ties_to_positive=positive == 0)
    of_event, of_rest = (_ranking_values(each) for each in (event, event.mirrored()))
    values = {
        **of_event,
        "ks": _bounded("ks", ks_interval(event, confidence=_LEVEL).around(ks(event)), event),
        **_calibration_values(event, "positive"),
        **_calibration_values(top, "top_label"),
        **_losses(cells),
        **_brier_parts(cells),
        **_isotonic_parts(cells),
        "top_1_accuracy": _share_of_events(top),
    }
    by_class = (of_rest, of_event) if positive else (of_event, of_rest)
    return CellValues(values, {key: [each[key] for each in by_class] for key in _RANKING})


def class_cell_values(cells: ClassCells) -> CellValues:
    """All metrics of K > 2 classes, counted one class at a time, of n >= 1 samples.

    The keys are the same as for the probabilities themselves. Metrics of pairs of classes, of
    ranks within an example and of single forecasts are undefined.
    """
    events = cells.events
    of_class = [_ranking_values(event) for event in events]
    values = _averaged_areas([each["roc_auc"] for each in of_class], cells)
    of_top = _calibration_values(cells.top.event, "top_label")
    values |= {key: value for key, value in of_top.items() if not key.startswith("mce_")}
    values |= _losses(cells)
    for key in _OF_SUMS:
        values[key] = MetricValue(values[key].value, ci_method=NO_SHARED)
    values |= _class_brier_parts(cells, float(values["brier_sum"]))
    values |= dict.fromkeys(top_k_keys(len(events)), _IN_CELLS)
    values["top_1_accuracy"] = _share_of_events(cells.top.event)
    return CellValues(values, {key: [each[key] for each in of_class] for key in _RANKING})


def _share_of_events(event: RankedCells) -> MetricValue:
    n_events, n_samples = event.n_positive, event.n_samples
    ends = wilson(np.int64(n_events), n_samples, confidence=_LEVEL).at()
    return Interval(*ends, WILSON).around(MetricValue(n_events / n_samples))


def _ranking_values(event: RankedCells) -> dict[str, MetricValue]:
    """The area and the average precision of an event."""
    found = class_interval(event, confidence=_LEVEL)
    values = {"roc_auc": roc_auc(event), "average_precision": average_precision(event)}
    return {key: _bounded(key, found[key].around(value), event) for key, value in values.items()}


def _bounded(key: str, value: MetricValue, event: RankedCells) -> MetricValue:
    if value.value is None:
        return value
    errors = {
        "roc_auc": lambda: event.area_error,
        "average_precision": lambda: event.precision_error,
        "ks": lambda: event.gap_error,
    }
    return _widened(key, value, errors[key]())


def _widened(key: str, value: MetricValue, error: float) -> MetricValue:
    """The value with its error bound, by which both ends of its interval are moved out."""
    if value.value is None or error == 0:
        return value
    spec = CATALOGUE[Scope.PROBABILISTIC][key]
    low, high = value.ci_low, value.ci_high
    return replace(
        value,
        ci_low=None if low is None else max(low - error, float(spec.low)),
        ci_high=None if high is None else min(high + error, float(spec.high)),
        ci_method="; ".join([value.ci_method or "counted in cells", off_by(error)]),
    )


def _calibration_values(event: RankedCells, of: str) -> dict[str, MetricValue]:
    """Calibration errors of an event; `of` is the part of their keys that names the event."""
    by_width, by_mass = equal_width_bins(event), equal_mass_bins(event)
    borders = event.cut_by_scores(by_width.edges[1:-1])
    places = np.array(equal_mass_places(event.n_samples), dtype=np.intp)
    errors = {
        f"ece_{of}_{DEFAULT_BINS}": (
            expected_calibration_error(by_width),
            event.expected_error(borders),
        ),
        f"mce_{of}_{DEFAULT_BINS}": (
            maximum_calibration_error(by_width),
            event.largest_error(borders, by_width.count),
        ),
        f"ece_{of}_equal_mass_{DEFAULT_BINS}": (
            expected_calibration_error(by_mass),
            event.expected_error(event.cut_by_places(places)),
        ),
    }
    found = calibration_intervals(event, of, seed=INTERVAL_SEED, confidence=_LEVEL)
    return {
        key: _widened(key, interval.around(MetricValue(errors[key][0])), errors[key][1])
        for key, interval in found.items()
    }


def _losses(cells: ScoreCells | ClassCells) -> dict[str, MetricValue]:
    losses = cells.losses
    found = mean_loss_intervals(losses, cells.support, confidence=_LEVEL)
    values = mean_losses(losses)
    values |= {key: interval.around(values[key]) for key, interval in found.items()}
    values["log_loss_clipped"] = _widened(
        "log_loss_clipped", values["log_loss_clipped"], cells.clipping_error
    )
    return values


def _brier_parts(cells: ScoreCells) -> dict[str, MetricValue]:
    """Components by distinct forecast, known only where each cell is a single score."""
    positive, size = cells.count[:, POSITIVE], cells.count.sum(axis=OUTCOME_AXIS)
    n_samples = cells.n_samples
    share = float(positive.sum()) / n_samples
    parts = {"brier_uncertainty": MetricValue(2 * share * (1 - share))}
    if not cells.is_exact:
        return parts | dict.fromkeys(("brier_reliability", "brier_resolution"), _IN_CELLS)
    observed = positive / size
    reliability = float((size * np.square(cells.low - observed)).sum())
    resolution = float((size * np.square(observed - share)).sum())
    return parts | {
        "brier_reliability": MetricValue(2 * reliability / n_samples),
        "brier_resolution": MetricValue(2 * resolution / n_samples),
    }


def _isotonic_parts(cells: ScoreCells) -> dict[str, MetricValue]:
    """Components by isotonic regression, with cells as ties and bounds for any order in them."""
    tied, most = explained_range(cells.event)
    share = cells.support / cells.n_samples
    found = parts_of(
        cells.losses.squared.mean,
        of_two(tied, float(share[POSITIVE])),
        concentration=float(np.square(share).sum()),
    )
    return {key: _widened(key, value, 2 * (most - tied)) for key, value in found.items()}


def _averaged_areas(areas: list[MetricValue], cells: ClassCells) -> dict[str, MetricValue]:
    """One-vs-rest areas: their mean, off by at most the mean of their bounds."""
    ovr = {"macro": np.ones(len(areas)), "weighted": cells.support.astype(np.float64)}
    if not cells.support.all():
        absent = MetricValue(None, Reason.CLASS_VALUE_UNDEFINED.value)
        return {f"roc_auc_{kind}_{name}": absent for kind in ("ovr", "ovo") for name in ovr}
    found = [area.value for area in areas if area.value is not None]
    bounds = [area.error_bound or 0.0 for area in areas]
    values = {
        f"roc_auc_ovr_{name}": _widened(
            f"roc_auc_ovr_{name}",
            MetricValue(float(np.average(found, weights=weights)), ci_method=NO_SHARED),
            float(np.average(bounds, weights=weights)),
        )
        for name, weights in ovr.items()
    }
    return values | {f"roc_auc_ovo_{name}": _IN_CELLS for name in ovr}


def _class_brier_parts(cells: ClassCells, brier_sum: float) -> dict[str, MetricValue]:
    """Components by isotonic regression, one class against the rest; none by forecast."""
    share = cells.support / cells.n_samples
    ranges = [explained_range(event) for event in cells.events]
    tied = sum(low for low, _ in ranges)
    found = parts_of(brier_sum, tied, concentration=float(np.square(share).sum()))
    error = sum(high for _, high in ranges) - tied
    return {
        "brier_reliability": _IN_CELLS,
        "brier_resolution": _IN_CELLS,
        "brier_uncertainty": MetricValue(float((share * (1 - share)).sum())),
        **{key: _widened(key, value, error) for key, value in found.items()},
    }
