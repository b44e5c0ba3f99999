"""F11 and F15: a run under a cost matrix, on its own and compared with other runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.number_text import cost, p_value, percents
from offdiag.flags.catalogue import RULES
from offdiag.flags.rule_evaluation import RuleEvaluation, Subjects, at_most, compare, constant
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Condition, Severity, Sign, Verdict
from offdiag.flags.weighted_subjects import subjects_of
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.against_constant import against_constant
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.weighted.counts import WeightedCounts

CONSTANT_USES = ("cost_alpha", "zero_recall_alpha", "zero_recall_chance")
"""The thresholds that decide whether a run costs no less than a constant prediction."""
RANK_FLIP_USES = ("rank_flip_saving",)
"""The thresholds that decide whether costs reverse the ranking."""


@dataclass(frozen=True, slots=True)
class RunWithCosts:
    """A run of a comparison: accuracy in [0, 1] and cost, both on the same examples."""

    name: str
    accuracy: float
    cost: float
    currency: str | None = None


def judge_costs(s: Subjects, weights: NDArray[np.float64], t: Thresholds) -> RuleEvaluation:
    """Where runs (R,) are proved to cost no less than a constant prediction.

    A run that predicts a single class is that constant prediction, if it is the cheapest and other
    classes have enough samples for F1; then there is nothing to test.
    """
    costs = evaluate_costs(s.counts, weights)
    found = against_constant(s.counts, s.squares, weights, alpha=t.cost_alpha)
    is_constant = s.n_predicted_classes == 1
    missed = at_most(0.0, s.n_of_others, t.zero_recall_chance)
    comparisons = (
        compare(
            "total cost",
            costs["total_cost"].value,
            Sign.AT_LEAST,
            costs["best_trivial_cost"].value,
        ),
        compare("p of costing less", found.p, Sign.AT_MOST, t.cost_alpha / found.in_question),
        compare(
            "p of zero recall on all other classes, if one class is predicted",
            np.where(is_constant, missed, np.nan),
            Sign.AT_MOST,
            t.zero_recall_alpha,
        ),
    )
    no_less, proved, is_same = (comparison.holds for comparison in comparisons)
    fires = no_less & (proved | is_same)
    return RuleEvaluation(fires, constant(fires, Severity.CRITICAL), comparisons)


def cost_verdict(
    counted: ConfusionMatrix | WeightedCounts,
    costs: CostMatrix,
    thresholds: Thresholds | None = None,
) -> Verdict | None:
    """F11: the run costs as much as the best constant prediction, or more.

    As with all rules, a run without examples of two classes gets no verdict.
    """
    subjects = subjects_of(counted)
    if not subjects.is_assessable[0]:
        return None
    limits = thresholds or Thresholds()
    judgement = judge_costs(subjects, costs.weights, limits)
    if not judgement.fires[0]:
        return None
    found = evaluate_costs(subjects.counts[0], costs.weights)
    total, trivial = found["total_cost"].at(), found["best_trivial_cost"].at()
    constant_class = subjects.names[int(found["best_trivial_class"].value)]
    fired = tuple(c.at((0,), judgement.fires.shape) for c in judgement.comparisons)
    _, costing_less, _ = fired
    p = costing_less.measured if costing_less.holds else None
    chance = "" if p is None else f" ({p_value(p)})"
    return Verdict(
        rule="F11",
        version=RULES["F11"].version,
        class_label=None,
        severity=Severity.CRITICAL,
        message=(
            f"Total cost is {cost(total.value or 0.0, costs.currency)}; always predicting "
            f"'{constant_class}' costs {cost(trivial.value or 0.0, costs.currency)}{chance}."
        ),
        evidence={
            "total_cost": total.value,
            "best_trivial_cost": trivial.value,
            "best_trivial_class": constant_class,
            "ratio": found["cost_ratio_to_best_trivial"].at().value,
            "p": p,
            "currency": costs.currency,
        },
        fired=fired,
        thresholds=limits.used(CONSTANT_USES),
    )


def rank_flip_verdict(
    run: RunWithCosts, others: Sequence[RunWithCosts], thresholds: Thresholds | None = None
) -> Verdict | None:
    """F15: the most accurate of the runs costs more than a less accurate one.

    Raised for `run` if none of the others is more accurate, and a less accurate one saves at least
    the threshold share of its cost. If several do, the cheapest is named.
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
