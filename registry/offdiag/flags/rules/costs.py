"""F11 and F15: what becomes of a run once errors have a price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.flags.catalogue import RULES
from offdiag.flags.judgement import Judgement, compare, constant
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Condition, Severity, Sign, Verdict, amount, percent
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import evaluate_costs

RANK_FLIP_USES = ("rank_flip_saving",)
"""The thresholds that decide whether costs reverse the ranking."""


@dataclass(frozen=True, slots=True)
class PricedRun:
    """A run of a comparison: accuracy in [0, 1] and cost, both on the same cases."""

    name: str
    accuracy: float
    cost: float


def judge_costs(
    counts: NDArray[Any],
    weights: NDArray[np.float64],
    *,
    prevalence: NDArray[np.float64] | None = None,
) -> Judgement:
    """Where a stack (R, K, K) costs no less than its best constant answer, shape (R,)."""
    costs = evaluate_costs(counts, weights, prevalence=prevalence)
    comparison = compare(
        "total cost",
        costs["total_cost"].value,
        Sign.AT_LEAST,
        costs["best_trivial_cost"].value,
    )
    return Judgement(
        comparison.holds, constant(comparison.holds, Severity.CRITICAL), (comparison,)
    )


def cost_verdict(
    matrix: ConfusionMatrix,
    costs: CostMatrix,
    *,
    prevalence: NDArray[np.float64] | None = None,
) -> Verdict | None:
    """F11: the run costs as much as the cheapest constant answer, or more.

    `prevalence` (K,) are the class shares at deployment, if declared. There is no verdict on
    a run without cases of two classes, as for all rules.
    """
    if int((matrix.actual > 0).sum()) < 2:
        return None
    stack = matrix.counts[np.newaxis]
    judgement = judge_costs(stack, costs.weights, prevalence=prevalence)
    if not judgement.fires[0]:
        return None
    found = evaluate_costs(matrix.counts, costs.weights, prevalence=prevalence)
    total, trivial = found["total_cost"].at(), found["best_trivial_cost"].at()
    answer = matrix.labels.names[int(found["best_trivial_class"].value)]
    unit = "" if costs.currency is None else f" {costs.currency}"
    return Verdict(
        rule="F11",
        version=RULES["F11"].version,
        class_label=None,
        severity=Severity.CRITICAL,
        message=(
            f"The predictions cost {amount(total.value or 0.0)}{unit}; answering '{answer}' every "
            f"time would cost {amount(trivial.value or 0.0)}{unit}."
        ),
        evidence={
            "total_cost": total.value,
            "best_trivial_cost": trivial.value,
            "best_trivial_class": answer,
            "ratio": found["cost_ratio_to_best_trivial"].at().value,
            "currency": costs.currency,
        },
        fired=tuple(c.at((0,), judgement.fires.shape) for c in judgement.comparisons),
        thresholds={},
    )


def rank_flip_verdict(
    run: PricedRun, others: Sequence[PricedRun], thresholds: Thresholds | None = None
) -> Verdict | None:
    """F15: the most accurate of the runs is not the one to choose once errors have a price.

    Fires for `run` if none of the others is more accurate, and a less accurate one saves the
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
    return Verdict(
        rule="F15",
        version=RULES["F15"].version,
        class_label=None,
        severity=Severity.MEDIUM,
        message=(
            f"'{run.name}' is the most accurate of {len(others) + 1} runs "
            f"({percent(run.accuracy)}) and costs {amount(run.cost)}; '{cheapest.name}', with "
            f"{percent(cheapest.accuracy)}, costs {amount(cheapest.cost)}."
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
