"""Which class to predict, given the scores and the costs or a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.number_text import beside
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.orientation import PREDICTED_AXIS
from offdiag.metrics.scores.forecasts import CLASS_AXIS, Forecasts


def bayes_decisions(p: NDArray[Any], costs: CostMatrix) -> NDArray[np.intp]:
    """The answer with the least expected cost for each sample, shape (n,).

    `p` is (n, K), the probability of each actual class in label order; answer j is expected to
    cost sum_i p_i W_ij. Equally cheap answers go to the lowest class code.
    """
    cheapest: NDArray[np.intp] = (p @ costs.weights).argmin(axis=CLASS_AXIS)
    return cheapest


def cost_threshold(costs: CostMatrix) -> float | None:
    """The probability of class 1 above which answering 1 is cheaper, for two classes.

    t* = (W01 - W00) / (W01 - W00 + W10 - W11): the extra cost of a false alarm over a right
    rejection, divided by the sum of that and the extra cost of a miss over a hit (Elkan 2001,
    IJCAI, 973). At exactly t* both cost the same and the tie goes to class 0. None if the
    denominator is not positive, because no threshold then separates the two answers. Outside
    [0, 1] one answer is always cheaper. Raises `InvalidInput` unless there are two classes.
    """
    costs.require_two_classes()
    (right_rejection, false_alarm), (miss, hit) = costs.weights.tolist()
    regret_alarm, regret_miss = false_alarm - right_rejection, miss - hit
    whole = regret_alarm + regret_miss
    return regret_alarm / whole if whole > 0 else None


Codes = NDArray[np.unsignedinteger[Any]]

MOST_WEIGHTS_KEPT = 100
"""Classes up to which a rule includes all its costs; beyond that, only their origin."""


@dataclass(frozen=True)
class ExpectedCostRule:
    """Give the answer of least expected cost: argmin_j sum_i p_i W_ij, the lowest code if tied."""

    costs: CostMatrix

    def decide(self, scores: NDArray[np.float32], *, positive: int | None) -> Codes:
        """Codes of the answers to scores (n, K), or (n, 1) of class `positive`, shape (n,).

        Raises `InvalidInput` for scores that are not probabilities.
        """
        forecasts = _forecasts(scores, self.costs.n_classes, positive)
        if not forecasts.are_probabilities:
            raise InvalidInput(
                f"the scores are not probabilities: {_why_no_probabilities(forecasts)}.",
                field="y_score",
                hint="Expected costs need probabilities that add up to 1; use a threshold.",
            )
        decided = np.empty(len(scores), np.min_scalar_type(self.costs.n_classes))
        start = 0
        for _, rows in forecasts.blocks():
            decided[start : start + len(rows)] = bayes_decisions(rows, self.costs)
            start += len(rows)
        return decided

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain values."""
        kept: dict[str, Any] = {"rule": "least_expected_cost"}
        if self.costs.n_classes <= MOST_WEIGHTS_KEPT:
            kept["weights"] = self.costs.by_class
        return kept


@dataclass(frozen=True)
class ThresholdRule:
    """With two classes, answer `positive` where its score is at or above a threshold.

    Without a threshold nothing is flagged.
    """

    positive: int
    threshold: float | None
    positive_label: str

    def decide(self, scores: NDArray[np.float32], *, positive: int | None) -> Codes:
        """Codes of the answers to scores (n, 2), or (n, 1) of class `positive`, shape (n,)."""
        score = positive_scores(scores, wanted=self.positive, positive=positive)
        flagged = np.zeros(len(score), np.bool_)
        if self.threshold is not None:
            with np.errstate(over="ignore"):  # Beyond all scores.
                stored = float(np.float32(self.threshold))
            # A score given as 0.7 is stored as a little less.
            flagged = (score >= self.threshold) | (score == stored)
        return np.where(flagged, self.positive, 1 - self.positive).astype(np.uint8)

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain values."""
        return {
            "rule": "threshold",
            "positive": self.positive_label,
            "threshold": self.threshold,
        }


Rule = ExpectedCostRule | ThresholdRule


def finite_threshold(threshold: float | None) -> float:
    """Check that a threshold can be compared with scores. Raises `InvalidInput`."""
    if not isinstance(threshold, int | float | np.number) or not np.isfinite(threshold):
        raise InvalidInput(
            f"{threshold!r} is not a threshold.", field="threshold", hint="Give a finite number."
        )
    return float(threshold)


def positive_scores(
    scores: NDArray[np.float32], *, wanted: int, positive: int | None
) -> NDArray[np.float64]:
    """Scores of class `wanted` of two, (n,), in the form that is compared with a threshold.

    Where only the other class has a score p, 1 - p stands in for a probability and -p for
    any other score.
    """
    forecasts = _forecasts(scores, 2, positive)
    if forecasts.has_all_columns or wanted == positive:
        return forecasts.of_class(wanted).astype(np.float64)
    if forecasts.are_probabilities:
        return forecasts.table[:, wanted].astype(np.float64)
    return forecasts.of_class(wanted).astype(np.float64)


def at_deployment(
    costs: CostMatrix, matrix: ConfusionMatrix, prevalence: NDArray[np.float64] | None
) -> CostMatrix:
    """Costs that weigh the samples of a test set as if the classes had other shares, (K,).

    The costs of each actual class i are multiplied by q_i / (t_i / N). For probabilities that are
    right at the shares of the test set, this is equivalent to correcting them to the other shares.
    """
    if prevalence is None:
        return costs
    factors = prevalence * matrix.total / np.maximum(matrix.actual, 1)
    weights = costs.weights * np.expand_dims(factors, PREDICTED_AXIS)
    return CostMatrix(weights, costs.labels, costs.currency)


def described(rule: Rule, **rule_inputs: Any) -> Mapping[str, Any]:
    """The rule with whatever is known about its origin."""
    known = {key: value for key, value in rule_inputs.items() if value not in (None, "")}
    return {**rule.to_dict(), **known}


def _why_no_probabilities(forecasts: Forecasts) -> str:
    """Name the first score, or first row sum of scores, that cannot be a probability."""
    scores = forecasts.scores
    outside = scores[(scores < 0) | (scores > 1)]
    if outside.size:
        return f"one of them is {float(outside[0]):.6g}"
    sums = scores.sum(axis=CLASS_AXIS, dtype=np.float64)
    return f"those of a sample add up to {beside(float(sums[np.abs(sums - 1).argmax()]), 1.0)}"


def _forecasts(scores: NDArray[np.float32], n_classes: int, positive: int | None) -> Forecasts:
    return Forecasts(np.zeros(len(scores), np.uint8), scores, n_classes, positive)
