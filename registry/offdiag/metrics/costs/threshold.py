"""What each threshold on a score would have cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import finite_vector, zero_one
from offdiag.metrics.costs.matrix import CostMatrix


@dataclass(frozen=True)
class ThresholdCosts:
    """Total cost of answering class 1 where the score is at or above a threshold.

    `thresholds` holds the distinct scores, falling, and `costs` the cost at each, both of
    shape (m,). `cost_of_none` is the cost of a threshold above all scores (always class 0);
    at the lowest threshold every answer is 1. `best_threshold` is the cheapest one, the
    highest of equals, or None if answering 0 throughout is as cheap as any.
    """

    thresholds: NDArray[np.float64]
    costs: NDArray[np.float64]
    cost_of_none: float
    best_threshold: float | None
    best_cost: float


def threshold_costs(y_true: ArrayLike, score: ArrayLike, costs: CostMatrix) -> ThresholdCosts:
    """Cost against threshold for two classes.

    `y_true` holds class codes 0 and 1 (or booleans), `score` the score of class 1, both of
    shape (n,). The threshold that was cheapest on these cases is an optimistic choice for
    others. Raises `InvalidInput` for unequal lengths, other labels, scores that are not
    finite, and more than two classes.
    """
    if costs.n_classes != 2:
        raise InvalidInput(
            f"there are {costs.n_classes} classes.",
            field="weights",
            hint="A threshold needs two classes.",
        )
    is_positive = zero_one(y_true, field="y_true", hint="Give class codes 0 and 1.")
    scores = finite_vector(score, field="score")
    if scores.shape != is_positive.shape:
        raise InvalidInput(
            f"its shape is {scores.shape}, that of y_true {is_positive.shape}.",
            field="score",
            hint="Give one score for each case.",
        )
    (right_rejection, false_alarm), (miss, hit) = costs.weights.tolist()
    falling = np.argsort(-scores, kind="stable")
    ordered = scores[falling]
    is_last_of_ties = np.append(ordered[1:] != ordered[:-1], True)[: len(ordered)]
    hits = np.cumsum(is_positive[falling])[is_last_of_ties]
    flagged = np.flatnonzero(is_last_of_ties) + 1
    false_alarms = flagged - hits
    n_positive = int(is_positive.sum())
    n_negative = len(scores) - n_positive
    cost_of_none = n_positive * miss + n_negative * right_rejection
    at_threshold = (
        hits * hit
        + (n_positive - hits) * miss
        + false_alarms * false_alarm
        + (n_negative - false_alarms) * right_rejection
    )
    thresholds = ordered[is_last_of_ties]
    cheapest = int(at_threshold.argmin()) if len(thresholds) else -1
    if cheapest < 0 or at_threshold[cheapest] >= cost_of_none:
        return ThresholdCosts(thresholds, at_threshold, cost_of_none, None, cost_of_none)
    return ThresholdCosts(
        thresholds,
        at_threshold,
        cost_of_none,
        float(thresholds[cheapest]),
        float(at_threshold[cheapest]),
    )
