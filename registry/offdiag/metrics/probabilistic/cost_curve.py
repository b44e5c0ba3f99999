"""The cost curve of Drummond and Holte (2006): how cheap the scores can be, for any costs.

Each threshold has an expected cost that is linear in PC(+), the share of the worst possible
cost that is due to missed positive cases: FNR PC(+) + FPR (1 - PC(+)). The curve is the lower
envelope of these lines, so it tells for every combination of prevalence and costs which
threshold is best and what it costs. Its lines are the corners of the convex hull of the ROC
curve.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.probabilistic.curves import Curve, CurveKind, no_curve, one_sided_reason
from offdiag.metrics.probabilistic.ranked import RankedScores

_LARGEST_REMAINDER = 0.9
"""Passes over all points go on while one leaves at most this share of them."""


def cost_curve(ranked: RankedScores) -> Curve:
    """Normalised expected cost over PC(+), 0 to 1: the corners of a piecewise linear curve.

    `threshold` and its rates apply from a corner up to the next one. At most min(PC(+),
    1 - PC(+)), the cost of the better constant answer. No points unless both kinds of cases
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
        # A point on or below the line through its neighbours is no corner of the hull, and
        # stays none when they are dropped in the same pass: all three are given points.
        right, up = np.diff(x[places]), np.diff(y[places])
        is_corner = np.ones(len(places), dtype=np.bool_)
        is_corner[1:-1] = up[:-1] * right[1:] > up[1:] * right[:-1]
        remains = np.count_nonzero(is_corner) / len(places)
        places = places[is_corner]
    return places[_scan(x[places].tolist(), y[places].tolist())]


def _scan(x: list[int], y: list[int]) -> list[int]:
    """Andrew's monotone chain: the few points that passes over all of them have left."""
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
