"""Curves over all thresholds (ROC, precision-recall, reliability, cost), as exact data.

A sample is reported positive when its score is at least the threshold. Every distinct score is a
threshold, and one above the largest score is added, at which nothing is reported.

The cost curve of Drummond and Holte (2006) shows how low the cost of the scores can be, for any
costs. Each threshold has an expected cost that is linear in PC(+), the share of the worst possible
cost that is due to missed positive cases: FNR PC(+) + FPR (1 - PC(+)). The curve is the lower
envelope of these lines, so for every combination of prevalence and costs it shows which threshold
is best and what it costs. Its lines are the corners of the convex hull of the ROC curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.scores.calibration import CalibrationBins, calibrated_shares
from offdiag.metrics.scores.ranking import RankedScores, TwoKinds, one_sided_reason


class CurveKind(StrEnum):
    ROC = "roc"
    PRECISION_RECALL = "precision_recall"
    RELIABILITY = "reliability"
    COST = "cost"


@dataclass(frozen=True, eq=False)
class Curve:
    """Points of a curve in drawing order.

    `columns` are arrays of one length, int64 counts or float64, NaN where a coordinate is
    undefined; `x` and `y` name the two that are drawn. `reason` says why there are no points
    at all. `thinned_from` is the number of points of the exact curve, None if it was not thinned.
    """

    kind: CurveKind
    x: str
    y: str
    columns: Mapping[str, NDArray[Any]]
    reason: str | None = None
    thinned_from: int | None = None

    @property
    def n_points(self) -> int:
        return len(self.columns[self.x])

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, with None for anything that is not a finite number."""
        return {
            "kind": self.kind.value,
            "x": self.x,
            "y": self.y,
            "n_points": self.n_points,
            "thinned_from": self.thinned_from,
            "reason": self.reason,
            "columns": {name: _plain(column) for name, column in self.columns.items()},
        }


class Thresholds(TwoKinds, Protocol):
    """What is reported at each threshold, descending: counts of samples, or sums of weights."""

    @property
    def totals(self) -> tuple[float, float]: ...
    @property
    def thresholds(self) -> NDArray[np.float64]: ...
    @property
    def true_positives(self) -> NDArray[Any]: ...
    @property
    def false_positives(self) -> NDArray[Any]: ...


def roc_curve(ranked: Thresholds) -> Curve:
    """True positive rate over false positive rate, from (0, 0) to (1, 1).

    No points unless both kinds of samples exist.
    """
    x, y = "false_positive_rate", "true_positive_rate"
    reason = one_sided_reason(ranked)
    if reason is not None:
        return no_curve(CurveKind.ROC, x, y, reason)
    columns = _by_threshold(ranked)
    of_positives, of_negatives = ranked.totals
    columns[x] = columns["false_positives"] / of_negatives
    columns[y] = columns["true_positives"] / of_positives
    return Curve(CurveKind.ROC, x, y, columns)


def precision_recall_curve(ranked: Thresholds) -> Curve:
    """Precision over recall, thresholds descending.

    The first point, where nothing is reported, has recall 0 and no precision. Between points
    the curve is a step, not a line. No points without positive samples.
    """
    x, y = "recall", "precision"
    if ranked.n_positive == 0:
        return no_curve(CurveKind.PRECISION_RECALL, x, y, Reason.NO_ACTUAL_POSITIVES)
    columns = _by_threshold(ranked)
    hits = columns["true_positives"]
    reported = (hits + columns["false_positives"]).astype(np.float64)
    columns[x] = hits / ranked.totals[0]
    columns[y] = hits / np.where(reported == 0, np.nan, reported)
    return Curve(CurveKind.PRECISION_RECALL, x, y, columns)


def reliability_curve(bins: CalibrationBins) -> Curve:
    """Observed share over mean score for each bin; both undefined in an empty bin.

    A perfectly calibrated model stays between `calibrated_low` and `calibrated_high` in 9 of
    10 samples.
    """
    count = np.where(bins.count == 0, np.nan, bins.count)
    calibrated_low, calibrated_high = calibrated_shares(bins)
    columns = {
        "bin_low": bins.edges[:-1],
        "bin_high": bins.edges[1:],
        "count": bins.count,
        "mean_score": bins.score_sum / count,
        "observed_share": bins.happened / count,
        "calibrated_low": calibrated_low,
        "calibrated_high": calibrated_high,
    }
    return Curve(CurveKind.RELIABILITY, "mean_score", "observed_share", columns)


def thin(curve: Curve, *, max_points: int) -> Curve:
    """At most `max_points` (2 or more) of the points, for drawing.

    Points are picked at equal distances along the curve, so its corners survive; equal steps
    through the list would lose them. The first and last point stay. The result records how
    many points there were.
    """
    if curve.n_points <= max_points:
        return curve
    steps = sum(
        np.abs(np.nan_to_num(np.diff(curve.columns[name].astype(np.float64))))
        for name in (curve.x, curve.y)
    )
    travelled = np.append(0.0, np.cumsum(steps))
    wanted = np.linspace(0.0, travelled[-1], max_points)[1:-1]
    inner = np.searchsorted(travelled, wanted, side="left")
    places = np.unique(np.concatenate([[0], inner, [curve.n_points - 1]]))
    columns = {name: column[places] for name, column in curve.columns.items()}
    return replace(curve, columns=columns, thinned_from=curve.thinned_from or curve.n_points)


def on_given_scores(curve: Curve) -> Curve:
    """A curve of negated scores with thresholds on the original scores.

    A sample is reported if its score is at most the threshold.
    """
    if "threshold" not in curve.columns:
        return curve
    return replace(curve, columns={**curve.columns, "threshold": 0.0 - curve.columns["threshold"]})


def no_curve(kind: CurveKind, x: str, y: str, reason: Reason) -> Curve:
    """A curve that is undefined: no points, and why."""
    return Curve(kind, x, y, {x: np.zeros(0), y: np.zeros(0)}, reason=reason.value)


def _by_threshold(ranked: Thresholds) -> dict[str, NDArray[Any]]:
    return {
        "threshold": ranked.thresholds,
        "true_positives": ranked.true_positives,
        "false_positives": ranked.false_positives,
    }


def _plain(column: NDArray[Any]) -> list[float | int | None]:
    if column.dtype.kind == "i":
        whole: list[float | int | None] = column.tolist()
        return whole
    return [value if np.isfinite(value) else None for value in column.tolist()]


_LARGEST_REMAINDER = 0.9
"""Passes over all points continue as long as each leaves at most this share of them."""


def cost_curve(ranked: RankedScores) -> Curve:
    """Normalised expected cost over PC(+), 0 to 1: the corners of a piecewise linear curve.

    `threshold` and its rates apply from a corner up to the next one. At most min(PC(+),
    1 - PC(+)), the cost of the better constant prediction. No points unless both kinds of samples
    exist.
    """
    x, y = "probability_cost", "normalized_expected_cost"
    reason = one_sided_reason(ranked)
    if reason is not None:
        return no_curve(CurveKind.COST, x, y, reason)
    hits, false_alarms = ranked.true_positives, ranked.false_positives
    corners = upper_hull(false_alarms, hits)
    hits, false_alarms = hits[corners], false_alarms[corners]

    # Lines of neighbouring corners cross where gained recall and added false alarms balance.
    false_side = np.diff(false_alarms) * ranked.n_positive
    true_side = np.diff(hits) * ranked.n_negative
    crossing = false_side / (false_side + true_side)
    begins, ends = np.append(0.0, crossing), np.append(crossing, 1.0)
    used = np.flatnonzero(ends > begins)
    position = np.append(begins[used], 1.0)
    line = np.append(used, used[-1])

    false_positive_rate = false_alarms[line] / ranked.n_negative
    false_negative_rate = (ranked.n_positive - hits[line]) / ranked.n_positive
    columns = {
        x: position,
        y: false_negative_rate * position + false_positive_rate * (1 - position),
        "threshold": ranked.thresholds[corners[line]],
        "false_positive_rate": false_positive_rate,
        "false_negative_rate": false_negative_rate,
    }
    return Curve(CurveKind.COST, x, y, columns)


def upper_hull(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Corners of the upper convex hull of distinct points that never go left or down.

    Returns their indices. Coordinates are whole numbers whose products fit int64, so no corner
    is lost to rounding.
    """
    places = np.arange(len(x), dtype=np.int64)
    remains = 0.0
    while remains <= _LARGEST_REMAINDER and len(places) > 2:
        # A point on or below the line through its neighbours is not a corner of the hull, even
        # if they are dropped in the same pass, because all three are given points.
        right, up = np.diff(x[places]), np.diff(y[places])
        is_corner = np.ones(len(places), dtype=np.bool_)
        is_corner[1:-1] = up[:-1] * right[1:] > up[1:] * right[:-1]
        remains = np.count_nonzero(is_corner) / len(places)
        places = places[is_corner]
    return places[_scan(x[places].tolist(), y[places].tolist())]


def _scan(x: list[int], y: list[int]) -> list[int]:
    """Andrew's monotone chain, for the few points that remain after passes over all of them."""
    hull: list[int] = []
    for place in range(len(x)):
        while len(hull) > 1:
            first, last = hull[-2], hull[-1]
            rise = (y[last] - y[first]) * (x[place] - x[last])
            if rise > (y[place] - y[last]) * (x[last] - x[first]):
                break
            hull.pop()
        hull.append(place)
    return hull
