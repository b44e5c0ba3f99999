"""Every metric of scores that were counted in cells: value, interval, and how far both are off.

Intervals are those of the scores themselves, from the cells, with the bound of the value added to
both ends. A calibration error has none, as elsewhere, but what a calibrated model would show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from offdiag.domain.values import MetricValue, Reason, off_by
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.discrimination import ks_interval
from offdiag.metrics.intervals.means import mean_loss_intervals
from offdiag.metrics.intervals.proportions import WILSON, wilson
from offdiag.metrics.intervals.scores import calibration_intervals, class_interval
from offdiag.metrics.scores.calibration import (
    DEFAULT_BINS,
    equal_mass_bins,
    equal_mass_places,
    equal_width_bins,
    expected_calibration_error,
    maximum_calibration_error,
)
from offdiag.metrics.scores.cells import OUTCOME_AXIS, POSITIVE, ScoreCells
from offdiag.metrics.scores.discrimination import average_precision, ks, roc_auc
from offdiag.metrics.scores.isotonic import explained_range, of_two, parts_of
from offdiag.metrics.scores.losses import mean_losses
from offdiag.metrics.scores.ranked_cells import RankedCells

_RANKING = ("roc_auc", "average_precision")


@dataclass(frozen=True)
class CellValues:
    """Aggregates by key, and the values of both classes in label order for each key of classes."""

    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, tuple[MetricValue, MetricValue]]


def cell_values(
    cells: ScoreCells, *, positive: int, seed: int, confidence: float = 0.95
) -> CellValues:
    """All metrics of two classes, whose `positive` one (0 or 1) has the probability, of n >= 1.

    The keys are those that the probabilities themselves would give.
    """
    event = cells.event
    top = cells.top_label(ties_to_positive=positive == 0)
    of_event, of_rest = (ranking_values(each, confidence) for each in (event, event.mirrored()))
    values = {
        **of_event,
        "ks": _bounded("ks", ks_interval(event, confidence=confidence).around(ks(event)), event),
        **calibration_values(event, "positive", seed=seed, confidence=confidence),
        **calibration_values(top, "top_label", seed=seed, confidence=confidence),
        **_losses(cells, confidence=confidence),
        **_brier_parts(cells),
        **_isotonic_parts(cells),
        "top_1_accuracy": Interval(
            *wilson(np.int64(top.n_positive), top.n_samples, confidence=confidence).at(), WILSON
        ).around(MetricValue(top.n_positive / top.n_samples)),
    }
    by_class = (of_rest, of_event) if positive else (of_event, of_rest)
    return CellValues(values, {key: (by_class[0][key], by_class[1][key]) for key in _RANKING})


def ranking_values(event: RankedCells, confidence: float) -> dict[str, MetricValue]:
    """The area and the average precision of an event."""
    found = class_interval(event, confidence=confidence)
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
    return widened(key, value, errors[key]())


def widened(key: str, value: MetricValue, error: float) -> MetricValue:
    """The value with the bound of its error, which both ends of its interval are moved by."""
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


def calibration_values(
    event: RankedCells, of: str, *, seed: int, confidence: float
) -> dict[str, MetricValue]:
    """Calibration errors of an event; `of` says which in their keys."""
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
    found = calibration_intervals(event, of, seed=seed, confidence=confidence)
    return {
        key: widened(key, interval.around(MetricValue(errors[key][0])), errors[key][1])
        for key, interval in found.items()
    }


def _losses(cells: ScoreCells, *, confidence: float) -> dict[str, MetricValue]:
    losses = cells.losses
    found = mean_loss_intervals(losses, cells.support, confidence=confidence)
    values = mean_losses(losses)
    values |= {key: interval.around(values[key]) for key, interval in found.items()}
    values["log_loss_clipped"] = widened(
        "log_loss_clipped", values["log_loss_clipped"], cells.clipping_error
    )
    return values


def _brier_parts(cells: ScoreCells) -> dict[str, MetricValue]:
    """Parts by distinct forecast, which cells only know where each is one score."""
    positive, size = cells.count[:, POSITIVE], cells.count.sum(axis=OUTCOME_AXIS)
    n_samples = cells.n_samples
    share = float(positive.sum()) / n_samples
    parts = {"brier_uncertainty": MetricValue(2 * share * (1 - share))}
    if not cells.is_exact:
        return parts | dict.fromkeys(
            ("brier_reliability", "brier_resolution"),
            MetricValue(None, Reason.FORECASTS_IN_CELLS.value),
        )
    observed = positive / size
    reliability = float((size * np.square(cells.low - observed)).sum())
    resolution = float((size * np.square(observed - share)).sum())
    return parts | {
        "brier_reliability": MetricValue(2 * reliability / n_samples),
        "brier_resolution": MetricValue(2 * resolution / n_samples),
    }


def _isotonic_parts(cells: ScoreCells) -> dict[str, MetricValue]:
    """Parts by isotonic regression, with cells as ties and the bound of any order within them."""
    tied, most = explained_range(cells.event)
    share = cells.support / cells.n_samples
    found = parts_of(
        cells.losses.squared.mean,
        of_two(tied, float(share[POSITIVE])),
        concentration=float(np.square(share).sum()),
    )
    return {key: widened(key, value, 2 * (most - tied)) for key, value in found.items()}
