"""Curves of the scores of weighted samples over all thresholds, as exact data.

Columns are as in `offdiag.metrics.scores.curves`, sums of weights in place of counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.scores.curves import Curve, CurveKind, no_curve
from offdiag.metrics.weighted.counts import Floats
from offdiag.metrics.weighted.ranking import WeightedRanking, one_sided_reason


def weighted_roc_curve(ranked: WeightedRanking) -> Curve:
    """True positive rate over false positive rate, from (0, 0) to (1, 1).

    No points unless both kinds of samples exist.
    """
    x, y = "false_positive_rate", "true_positive_rate"
    reason = one_sided_reason(ranked)
    if reason is not None:
        return no_curve(CurveKind.ROC, x, y, reason)
    columns = _weights_by_threshold(ranked)
    of_positives, of_negatives = ranked.totals
    columns[x] = columns["false_positives"] / of_negatives
    columns[y] = columns["true_positives"] / of_positives
    return Curve(CurveKind.ROC, x, y, columns)


def weighted_precision_recall_curve(ranked: WeightedRanking) -> Curve:
    """Precision over recall, thresholds descending; no points without positive samples."""
    x, y = "recall", "precision"
    if ranked.n_positive == 0:
        return no_curve(CurveKind.PRECISION_RECALL, x, y, Reason.NO_ACTUAL_POSITIVES)
    columns = _weights_by_threshold(ranked)
    columns[x] = columns["true_positives"] / ranked.totals[0]
    columns[y] = np.append(np.nan, ranked.precision[::-1])
    return Curve(CurveKind.PRECISION_RECALL, x, y, columns)


def _weights_by_threshold(ranked: WeightedRanking) -> dict[str, Floats]:
    hits, false_alarms = ranked.above
    return {
        "threshold": np.append(_above_all(ranked.values), ranked.values[::-1].astype(np.float64)),
        "true_positives": np.append(0.0, hits[::-1]),
        "false_positives": np.append(0.0, false_alarms[::-1]),
    }


def _above_all(values: NDArray[np.floating]) -> float:
    """The next number above the largest score in its type, at which nothing is reported."""
    with np.errstate(over="ignore"):  # Above the largest finite number there is infinity.
        return float(np.nextafter(values[-1], values.dtype.type(np.inf)))
