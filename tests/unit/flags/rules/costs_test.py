"""F11 and F15: verdicts that need a price for each error."""

from __future__ import annotations

import json

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.flags.rules.costs import RunWithCosts, cost_verdict, rank_flip_verdict
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Severity
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix

LABELS = LabelSet(("ill", "well"))
TEN_TO_ONE = CostMatrix(np.array([[0.0, 10.0], [1.0, 0.0]]), LABELS, "EUR")


def matrix(cells: list[list[int]]) -> ConfusionMatrix:
    return ConfusionMatrix(np.array(cells, np.int64), LABELS)


def test_a_majority_classifier_costs_what_the_constant_answer_costs() -> None:
    verdict = cost_verdict(matrix([[0, 10], [0, 990]]), TEN_TO_ONE)

    assert verdict is not None
    assert (verdict.rule, verdict.severity) == ("F11", Severity.CRITICAL)
    assert verdict.message == ("Total cost is 100 EUR; always predicting 'well' costs 100 EUR.")
    assert verdict.evidence["ratio"] == 1.0
    (condition,) = verdict.fired
    assert (condition.measured, condition.sign, condition.threshold) == (100.0, ">=", 100.0)
    json.dumps(verdict.to_dict(), allow_nan=False)


def test_one_unit_less_than_the_constant_answer_is_silent() -> None:
    assert cost_verdict(matrix([[1, 9], [9, 981]]), TEN_TO_ONE) is None
    assert cost_verdict(matrix([[1, 9], [10, 980]]), TEN_TO_ONE) is not None


def test_a_run_with_one_actual_class_is_not_judged() -> None:
    assert cost_verdict(matrix([[0, 0], [0, 990]]), TEN_TO_ONE) is None


LEADER = RunWithCosts("a", 0.95, 100.0)


def test_a_cheaper_less_accurate_run_reverses_the_ranking() -> None:
    verdict = rank_flip_verdict(
        RunWithCosts("a", 0.95, 100.0, "EUR"),
        [RunWithCosts("b", 0.93, 60.0, "EUR"), RunWithCosts("c", 0.9, 80.0, "EUR")],
    )

    assert verdict is not None
    assert verdict.evidence["cheapest_run"] == "b"
    assert verdict.evidence["saving"] == pytest.approx(0.4)
    assert verdict.message == (
        "Most accurate of 3 runs (95 %, 100 EUR); 'b' has 93 % and costs 60 EUR."
    )
    assert verdict.thresholds == {"rank_flip_saving": 0.05}
    json.dumps(verdict.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    "others",
    [
        [],
        [RunWithCosts("b", 0.96, 60.0)],
        [RunWithCosts("b", 0.95, 60.0)],
        [RunWithCosts("b", 0.90, 95.1)],
        [RunWithCosts("b", 0.90, 100.0)],
    ],
    ids=["alone", "a better leader", "as accurate", "too small a saving", "no saving"],
)
def test_the_ranking_stands(others: list[RunWithCosts]) -> None:
    assert rank_flip_verdict(LEADER, others) is None


def test_a_leader_without_cost_can_still_be_beaten_by_a_gain() -> None:
    verdict = rank_flip_verdict(RunWithCosts("a", 0.9, 0.0), [RunWithCosts("b", 0.8, -5.0)])

    assert verdict is not None
    assert verdict.evidence["saving"] is None


def test_the_saving_asked_for_is_a_threshold() -> None:
    others = [RunWithCosts("b", 0.9, 80.0)]

    assert rank_flip_verdict(LEADER, others, Thresholds(rank_flip_saving=0.2)) is not None
    assert rank_flip_verdict(LEADER, others, Thresholds(rank_flip_saving=0.21)) is None
