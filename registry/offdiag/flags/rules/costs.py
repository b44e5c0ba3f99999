"""F11 and F15: a run under a cost matrix, alone and against other runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.number_text import cost, percents
from offdiag.flags.catalogue import RULES
from offdiag.flags.rule_evaluation import RuleEvaluation, compare, constant
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Condition, Severity, Sign, Verdict
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.weighted.counts import WeightSums

RANK_FLIP_USES = ("rank_flip_saving",)
"""The thresholds that decide whether costs reverse the ranking."""


@dataclass(frozen=True, slots=True)
class RunWithCosts:
    """A run of a comparison: accuracy in [0, 1] and cost, both on the same examples."""

    name: str
    accuracy: float
    cost: float
    currency: str | None = None


def judge_costs(counts: NDArray[Any], weights: NDArray[np.float64]) -> RuleEvaluation:
    """Where a stack (R, K, K) costs no less than its best constant prediction, shape (R,)."""
    costs = evaluate_costs(counts, weights)
    comparison = compare(
        "total cost",
        costs["total_cost"].value,
        Sign.AT_LEAST,
        costs["best_trivial_cost"].value,
    )
    return RuleEvaluation(
        comparison.holds, constant(comparison.holds, Severity.CRITICAL), (comparison,)
    )


def cost_verdict(matrix: ConfusionMatrix | WeightSums, costs: CostMatrix) -> Verdict | None:
    """F11: the run costs as much as the best constant prediction, or more.

    There is no verdict on a run without examples of two classes, as for all rules.
    """
    if int((matrix.actual > 0).sum()) < 2:
        return None
    stack = matrix.counts[np.newaxis]
    judgement = judge_costs(stack, costs.weights)
    if not judgement.fires[0]:
        return None
    found = evaluate_costs(matrix.counts, costs.weights)
    total, trivial = found["total_cost"].at(), found["best_trivial_cost"].at()
    constant_class = matrix.labels.names[int(found["best_trivial_class"].value)]
    return Verdict(
        rule="F11",
        version=RULES["F11"].version,
        class_label=None,
        severity=Severity.CRITICAL,
        message=(
            f"Total cost is {cost(total.value or 0.0, costs.currency)}; always predicting "
            f"'{constant_class}' costs {cost(trivial.value or 0.0, costs.currency)}."
        ),
        evidence={
            "total_cost": total.value,
            "best_trivial_cost": trivial.value,
            "best_trivial_class": constant_class,
            "ratio": found["cost_ratio_to_best_trivial"].at().value,
            "currency": costs.currency,
        },
        fired=tuple(c.at((0,), judgement.fires.shape) for c in judgement.comparisons),
        thresholds={},
    )


def rank_flip_verdict(
    run: RunWithCosts, others: Sequence[RunWithCosts], thresholds: Thresholds | None = None
) -> Verdict | None:
    """F15: the most accurate of the runs costs more than a less accurate one.

    Raised for `run` if none of the others is more accurate, and a less accurate one saves the
    threshold share of its cost, or more. Of several such runs the cheapest is named.
    """
    limits = thresholds or Thresholds()
    if not others or max(other.accuracy for other in others) > run.accuracy:
        return None
    cheapest = min(others, key=lambda other: (other.cost, -other.accuracy))
    saved = run.cost - cheapest.cost
    enough = saved > 0 and saved >= limits.rank_flip_saving * abs(run.cost)
    if not enough or cheapest.accuracy >= run.accuracy:
        return None
    share = saved / abs(run.cost) if run.cost else None
    accuracy, other_accuracy = percents(run.accuracy, cheapest.accuracy)
    return Verdict(
        rule="F15",
        version=RULES["F15"].version,
        class_label=None,
        severity=Severity.MEDIUM,
        message=(
            f"Most accurate of {len(others) + 1} runs ({accuracy}, "
            f"{cost(run.cost, run.currency)}); '{cheapest.name}' has {other_accuracy} and costs "
            f"{cost(cheapest.cost, cheapest.currency)}."
        ),
        evidence={
            "accuracy": run.accuracy,
            "cost": run.cost,
            "n_runs": len(others) + 1,
            "cheapest_run": cheapest.name,
            "cheapest_accuracy": cheapest.accuracy,
            "cheapest_cost": cheapest.cost,
            "saving": share,
        },
        fired=(
            Condition("accuracy", run.accuracy, Sign.ABOVE, cheapest.accuracy, holds=True),
            Condition(
                "share of the cost that the cheapest run saves",
                share,
                Sign.AT_LEAST,
                limits.rank_flip_saving,
                holds=True,
            ),
        ),
        thresholds=limits.used(RANK_FLIP_USES),
    )
