"""The cost of a confusion matrix, beside what one constant answer and no error would cost.

A cost alone says little: the yardstick is the cheapest constant answer, "always j". A model
with a ratio above 1 is worse than that. With a declared prevalence q the cases of actual
class i are weighted by q_i / (t_i / N) first, as if the test set had the classes in these
shares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.orientation import (
    STACK_ACTUAL_AXIS,
    STACK_PREDICTED_AXIS,
    actual_totals,
)
from offdiag.metrics.quantity import (
    Causes,
    Quantity,
    cause,
    defined_except,
    first_cause,
    fraction,
)

COST_KEYS = (
    "total_cost",
    "mean_cost",
    "best_trivial_class",
    "best_trivial_cost",
    "cost_ratio_to_best_trivial",
    "skill_vs_trivial",
)
CLASS_AXIS = -1
CELL_AXIS = -1

Floats = NDArray[np.float64]


def evaluate_costs(
    counts: NDArray[Any], weights: Floats, *, prevalence: Floats | None = None
) -> Mapping[str, Quantity]:
    """Costs of one matrix (K, K) or of many (..., K, K), quantities of shape (...).

    `counts` are numbers of cases with the actual class along the last axis but one, `weights`
    (K, K) the costs [actual, predicted], `prevalence` (K,) the shares at deployment or None.

    * `total_cost` = sum W_ij c_ij over the test set (re-weighted to N cases), any sign;
    * `mean_cost` = total / N;
    * `best_trivial_class` = code of the constant answer j that costs least, the lowest of
      equals, and `best_trivial_cost` = sum_i t_i W_ij for it;
    * `cost_ratio_to_best_trivial` = total / trivial, undefined for a trivial cost <= 0;
    * `skill_vs_trivial` = (trivial - total) / (trivial - perfect), 1 for a perfect matrix and
      0 for a trivial one; undefined where a constant answer is as cheap as a perfect one.

    All are undefined without cases, or if a class that is expected at deployment has none:
    nothing is known about it. Sums run over cells in row order, one after the other, so that
    another program adding in the same order gets the same digits.
    """
    tested = actual_totals(counts.astype(np.float64))
    total_cases = tested.sum(axis=CLASS_AXIS)
    undefined = cause(Reason.NO_CASES, np.asarray(total_cases == 0))
    if prevalence is not None:
        unknown = ((prevalence > 0) & (tested == 0)).any(axis=CLASS_AXIS)
        undefined = first_cause(undefined, cause(Reason.CLASS_ABSENT, np.asarray(unknown)))
    cases, support = expected_cases(counts, prevalence=prevalence)
    return _summary(cases, support, total_cases, weights, undefined)


def expected_cases(
    counts: NDArray[Any], *, prevalence: Floats | None = None
) -> tuple[Floats, Floats]:
    """The cases that costs are summed over, (..., K, K), and those of each actual class, (..., K).

    Without a prevalence they are the counts. With one, the cases of each class count so many
    times that the class has its share of all of them.
    """
    cases = counts.astype(np.float64)
    support = actual_totals(cases)
    if prevalence is None:
        return cases, support
    wanted = prevalence * support.sum(axis=CLASS_AXIS)[..., np.newaxis]
    factor = np.divide(wanted, support, out=np.zeros_like(support), where=support > 0)
    return cases * factor[..., np.newaxis], wanted


def _summary(
    cases: Floats, support: Floats, total_cases: Floats, weights: Floats, undefined: Causes
) -> dict[str, Quantity]:
    total = _added_in_order((cases * weights).reshape(*cases.shape[:-2], weights.size))
    # Cost of each constant answer, shape (..., K): all cases of class i pay W_ij.
    constant = np.add.accumulate(support[..., np.newaxis] * weights, axis=STACK_ACTUAL_AXIS)
    constant = constant.take(-1, axis=STACK_ACTUAL_AXIS)
    best = constant.argmin(axis=CLASS_AXIS)
    trivial = constant.min(axis=CLASS_AXIS)
    perfect = _added_in_order(
        support * np.diagonal(weights, axis1=STACK_ACTUAL_AXIS, axis2=STACK_PREDICTED_AXIS)
    )
    room = trivial - perfect
    return {
        "total_cost": defined_except(total, undefined),
        "mean_cost": fraction(total, total_cases, undefined),
        "best_trivial_class": defined_except(best, undefined),
        "best_trivial_cost": defined_except(trivial, undefined),
        "cost_ratio_to_best_trivial": fraction(
            total,
            trivial,
            first_cause(undefined, cause(Reason.TRIVIAL_COST_NOT_POSITIVE, trivial <= 0)),
        ),
        "skill_vs_trivial": fraction(
            trivial - total,
            room,
            first_cause(undefined, cause(Reason.TRIVIAL_COST_IS_PERFECT, room <= 0)),
        ),
    }


def _added_in_order(values: Floats) -> Floats:
    """0 plus each value along the last axis in turn, without pairwise regrouping."""
    return np.asarray(np.add.accumulate(values, axis=CELL_AXIS)[..., -1] + 0.0)
