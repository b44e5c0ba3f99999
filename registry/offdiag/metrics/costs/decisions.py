"""Which class to answer, given the probabilities and the costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import probabilities
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.probabilistic.forecasts import CLASS_AXIS

SUM_TOLERANCE = 1e-3
"""float32 probabilities of many classes add up to 1 within this."""


def expected_costs(p: ArrayLike, costs: CostMatrix) -> NDArray[np.float64]:
    """Expected cost of each possible answer, shape (n, K): sum_i p_i W_ij.

    `p` is (n, K), the probability of each actual class in label order. Raises `InvalidInput`
    for another shape, values outside [0, 1] and rows that do not add up to 1.
    """
    shares = probabilities(p, field="p")
    if shares.ndim != 2 or shares.shape[CLASS_AXIS] != costs.n_classes:
        raise InvalidInput(
            f"the shape is {shares.shape} for {costs.n_classes} classes.",
            field="p",
            hint="Give one row for each case and one column for each class.",
        )
    sums = shares.sum(axis=CLASS_AXIS)
    off = np.flatnonzero(np.abs(sums - 1.0) > SUM_TOLERANCE)
    if off.size:
        raise InvalidInput(
            f"row {off[0]} adds up to {sums[off[0]]:g}.",
            field="p",
            hint="Give probabilities of all classes; they add up to 1.",
        )
    expected: NDArray[np.float64] = shares @ costs.weights
    return expected


def bayes_decisions(p: ArrayLike, costs: CostMatrix) -> NDArray[np.intp]:
    """The answer with the least expected cost for each case, shape (n,).

    Equally cheap answers go to the lowest class code. Arguments and errors as in
    `expected_costs`.
    """
    cheapest: NDArray[np.intp] = expected_costs(p, costs).argmin(axis=CLASS_AXIS)
    return cheapest


def expected_cost_per_decision(p: ArrayLike, costs: CostMatrix) -> float | None:
    """Mean expected cost if every case gets its cheapest answer; None without cases.

    Right as far as the probabilities are: it needs no labels and trusts them fully.
    """
    cheapest = expected_costs(p, costs).min(axis=CLASS_AXIS)
    return float(cheapest.mean()) if len(cheapest) else None


def cost_threshold(costs: CostMatrix) -> float | None:
    """The probability of class 1 above which answering 1 is cheaper, for two classes.

    t* = (W01 - W00) / (W01 - W00 + W10 - W11): what a false alarm costs beyond a right
    rejection, as a part of that plus what a miss costs beyond a hit (Elkan 2001, IJCAI, 973).
    At exactly t* both cost the same and the tie goes to class 0. None where the denominator
    is not positive, because no threshold then separates the two answers. Outside [0, 1] one
    answer is always the cheaper one. Raises `InvalidInput` unless there are two classes.
    """
    if costs.n_classes != 2:
        raise InvalidInput(
            f"there are {costs.n_classes} classes.",
            field="weights",
            hint="A threshold needs two classes; use the decisions by expected cost instead.",
        )
    (right_rejection, false_alarm), (miss, hit) = costs.weights.tolist()
    regret_alarm, regret_miss = false_alarm - right_rejection, miss - hit
    whole = regret_alarm + regret_miss
    return regret_alarm / whole if whole > 0 else None
