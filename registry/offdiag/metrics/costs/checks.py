"""What is odd about a cost matrix, although it can be meant."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.orientation import PREDICTED_AXIS


class CostOddity(StrEnum):
    """Something to look at twice."""

    ANSWER_DOES_NOT_MATTER = "answer_does_not_matter"
    """Every answer costs the same for this actual class, right ones too."""
    RIGHT_ANSWER_IS_PRICED = "right_answer_is_priced"
    """A right answer costs, or earns, something."""
    ERROR_IS_CHEAPER = "error_is_cheaper"
    """Some wrong answer costs less than the right one."""


@dataclass(frozen=True, slots=True)
class CostWarning:
    """An oddity and the classes, by code, for which it holds."""

    oddity: CostOddity
    classes: tuple[int, ...]


def check_costs(costs: CostMatrix) -> tuple[CostWarning, ...]:
    """The oddities of a cost matrix, each with the actual classes concerned.

    With a single class there is nothing to get wrong, and nothing is odd.
    """
    if costs.n_classes < 2:
        return ()
    weights, right = costs.weights, np.diagonal(costs.weights)
    cheapest = weights.min(axis=PREDICTED_AXIS)
    concerned = {
        CostOddity.ANSWER_DOES_NOT_MATTER: cheapest == weights.max(axis=PREDICTED_AXIS),
        CostOddity.RIGHT_ANSWER_IS_PRICED: right != 0,
        CostOddity.ERROR_IS_CHEAPER: cheapest < right,
    }
    return tuple(
        CostWarning(oddity, tuple(np.flatnonzero(classes).tolist()))
        for oddity, classes in concerned.items()
        if classes.any()
    )
