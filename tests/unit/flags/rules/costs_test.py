"""F11 and F15: verdicts that need a price for each error."""

from __future__ import annotations

import json

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.flags.rule_evaluation import at_least
from offdiag.flags.rules.costs import RunWithCosts, cost_verdict, rank_flip_verdict
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Severity
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.weighted.counts import WeightedCounts
from support.optional import present

LABELS = LabelSet(("ill", "well"))
TEN_TO_ONE = CostMatrix(np.array([[0.0, 10.0], [1.0, 0.0]]), LABELS, "EUR")


def matrix(cells: list[list[int]]) -> ConfusionMatrix:
    return ConfusionMatrix(np.array(cells, np.int64), LABELS)


def test_a_majority_classifier_costs_what_the_constant_answer_costs() -> None:
    verdict = present(cost_verdict(matrix([[0, 10], [0, 990]]), TEN_TO_ONE))

    assert (verdict.rule, verdict.severity) == ("F11", Severity.CRITICAL)
    assert verdict.message == ("Total cost is 100 EUR; always predicting 'well' costs 100 EUR.")
    assert verdict.evidence["ratio"] == 1.0
    total, proof, same = verdict.fired
    assert (total.measured, total.sign, total.threshold) == (100.0, ">=", 100.0)
    assert not proof.holds
    assert (same.measured, same.sign, same.threshold) == (0.5**10, "<=", 0.05)
    json.dumps(verdict.to_dict(), allow_nan=False)


def test_too_few_examples_to_tell_a_detector_from_the_constant_answer() -> None:
    assert cost_verdict(matrix([[0, 5], [0, 95]]), TEN_TO_ONE) is not None
    assert cost_verdict(matrix([[0, 4], [0, 96]]), TEN_TO_ONE) is None
    assert (
        cost_verdict(matrix([[0, 5], [0, 95]]), TEN_TO_ONE, Thresholds(zero_recall_alpha=0.01))
        is None
    )


def test_a_few_units_more_than_the_constant_answer_are_silent() -> None:
    """One ill person more would have been found by chance: 110 against 100 proves nothing."""
    assert cost_verdict(matrix([[1, 9], [9, 981]]), TEN_TO_ONE) is None
    assert cost_verdict(matrix([[1, 9], [20, 970]]), TEN_TO_ONE) is None


def test_the_proof_is_the_binomial_test_of_false_alarms_among_all_alarms() -> None:
    """An alarm pays where it is right in one of 11 cases."""
    proved = present(cost_verdict(matrix([[1, 9], [60, 930]]), TEN_TO_ONE))

    p = at_least(60, 61, 10 / 11)
    assert proved.evidence["p"] == pytest.approx(p, rel=0.03)
    assert proved.message == (
        "Total cost is 150 EUR; always predicting 'well' costs 100 EUR (p = 0.021)."
    )
    _, proof, same = proved.fired
    assert (proof.measured, proof.sign, proof.threshold) == (proved.evidence["p"], "<=", 0.05)
    assert (same.measured, same.holds) == (None, False)
    assert proved.thresholds == {
        "cost_alpha": 0.05,
        "zero_recall_alpha": 0.05,
        "zero_recall_chance": 0.5,
    }
    strict = Thresholds(cost_alpha=0.01)
    assert cost_verdict(matrix([[1, 9], [60, 930]]), TEN_TO_ONE, strict) is None


def test_constant_predictions_that_may_both_be_the_best_share_the_level() -> None:
    """Of as many ill as well people always predicting either may be the better one."""
    equal = CostMatrix(np.array([[0.0, 1.0], [1.0, 0.0]]), LABELS)
    verdict = present(cost_verdict(matrix([[5, 45], [30, 20]]), equal))

    _, proof, _ = verdict.fired
    assert proof.threshold == 0.025


def test_equal_weights_are_judged_as_numbers() -> None:
    counts = np.array([[1, 9], [60, 930]])
    weighted = WeightedCounts(counts, counts * 0.25, counts * 0.0625, LABELS)

    found = cost_verdict(weighted, TEN_TO_ONE)

    expected = cost_verdict(matrix(counts.tolist()), TEN_TO_ONE)
    assert present(found).evidence["p"] == pytest.approx(present(expected).evidence["p"])
    assert present(found).evidence["ratio"] == pytest.approx(present(expected).evidence["ratio"])


def test_few_heavy_examples_prove_less_than_as_many_equal_ones() -> None:
    counts = np.array([[1, 9], [60, 930]])
    squares = counts.astype(np.float64)
    squares[1, 0] *= 6
    heavy = WeightedCounts(counts, counts.astype(np.float64), squares, LABELS)

    assert cost_verdict(heavy, TEN_TO_ONE) is None


def test_where_nothing_can_cost_less_every_run_costs_no_less() -> None:
    nothing = CostMatrix(np.zeros((2, 2)), LABELS)

    assert cost_verdict(matrix([[10, 3], [4, 30]]), nothing) is not None


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
