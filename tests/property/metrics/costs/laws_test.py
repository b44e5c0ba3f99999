"""Laws of costs, for all matrices and weights."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from offdiag.metrics.costs.break_even import CostRay, cheapest_along
from offdiag.metrics.costs.decisions import bayes_decisions
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.costs.summary import COST_KEYS, evaluate_costs
from offdiag.metrics.costs.threshold import cheapest_point, cost_at_each, side_costs
from offdiag.metrics.scores.operating_points import operating_points
from offdiag.metrics.scores.ranking import rank_scores
from offdiag.metrics.suite import evaluate_stack
from support.matrices import numbered_labels

PRICES = st.integers(-50, 50).map(lambda cents: cents / 4)
Problem = tuple[NDArray[np.int64], NDArray[np.float64]]
PROBLEMS = st.integers(2, 5).flatmap(
    lambda k: st.tuples(
        arrays(np.int64, (k, k), elements=st.integers(0, 1000)),
        arrays(np.float64, (k, k), elements=PRICES),
    )
)
RAYS = st.lists(
    st.builds(
        CostRay,
        st.integers(0, 30).map(Fraction),
        st.integers(0, 12).map(lambda slope: Fraction(slope, 3)),
    ),
    min_size=1,
    max_size=8,
)


@given(PROBLEMS)
def test_unit_costs_are_the_error_rate(problem: Problem) -> None:
    counts, _ = problem
    assume(counts.any())

    found = evaluate_costs(counts, 1.0 - np.eye(len(counts)))

    rate = evaluate_stack(counts, ordinal=False).aggregate["error_rate"].value
    assert found["mean_cost"].value == rate


@given(PROBLEMS, st.randoms(use_true_random=False))
def test_the_order_of_classes_changes_no_cost(problem: Problem, random: object) -> None:
    counts, weights = problem
    order = list(range(len(counts)))
    random.shuffle(order)  # type: ignore[attr-defined]
    place = np.ix_(order, order)

    plain, shuffled = (
        evaluate_costs(counts, weights),
        evaluate_costs(counts[place], weights[place]),
    )

    for key in set(COST_KEYS) - {"best_trivial_class"}:
        # Prices are quarters, so all sums are exact and so are the quotients.
        assert shuffled[key].at() == plain[key].at(), key


@given(PROBLEMS, st.integers(1, 100))
def test_another_currency_changes_neither_ratio_nor_skill(problem: Problem, rate: int) -> None:
    counts, weights = problem

    there, here = evaluate_costs(counts, weights), evaluate_costs(counts, weights * rate)

    for key in ("cost_ratio_to_best_trivial", "skill_vs_trivial"):
        before, after = there[key].at(), here[key].at()
        assert before.reason == after.reason
        if before.value is not None:
            assert after.value == pytest.approx(before.value, rel=1e-12)


@given(PROBLEMS)
def test_no_value_is_ever_nan_or_infinite_without_a_reason(problem: Problem) -> None:
    counts, weights = problem

    for quantity in evaluate_costs(counts, weights).values():
        value = quantity.at()
        assert (value.value is None) == (value.reason is not None)
        if value.value is not None:
            assert np.isfinite(value.value)


@given(PROBLEMS)
def test_the_best_constant_answer_is_the_cheapest_of_all(problem: Problem) -> None:
    counts, weights = problem
    assume(counts.any())
    constant = counts.sum(axis=1) @ weights

    found = evaluate_costs(counts, weights)

    assert found["best_trivial_cost"].value == constant.min()
    assert found["best_trivial_class"].value == np.flatnonzero(constant == constant.min())[0]


@given(
    arrays(np.float64, (6, 3), elements=st.floats(0.01, 1)),
    arrays(np.float64, (3, 3), elements=PRICES),
)
def test_no_other_answer_is_cheaper_than_the_decision(
    raw: NDArray[np.float64], weights: NDArray[np.float64]
) -> None:
    assume(weights.any())
    p = raw / raw.sum(axis=1, keepdims=True)
    costs = cost_matrix(weights, labels=numbered_labels(3))

    decisions, expected = bayes_decisions(p, costs), p @ weights

    chosen = expected[np.arange(6), decisions]
    assert (chosen[:, np.newaxis] <= expected).all()


@given(
    arrays(np.bool_, 25, elements=st.booleans()),
    arrays(np.float64, 25, elements=st.integers(0, 9).map(float)),
    arrays(np.float64, (2, 2), elements=PRICES),
)
def test_costs_at_thresholds_are_those_of_the_answers(
    truth: NDArray[np.bool_], score: NDArray[np.float64], weights: NDArray[np.float64]
) -> None:
    assume(weights.any())
    costs = cost_matrix(weights, labels=numbered_labels(2))

    points = operating_points(rank_scores(truth, score.astype(np.float32)))
    found = cost_at_each(points, side_costs(costs, 1))

    for threshold, cost in zip(points.thresholds, found, strict=True):
        answers = (score >= threshold).astype(int)
        assert cost == pytest.approx(weights[truth.astype(int), answers].sum() / len(truth))
    cheapest = cheapest_point(points, side_costs(costs, 1))
    assert cheapest is not None
    assert found[cheapest] == found.min()


@given(RAYS)
def test_the_envelope_is_the_minimum_everywhere(rays: list[CostRay]) -> None:
    stretches = cheapest_along(rays, low=0.0, high=20.0)

    assert stretches[0].low == 0.0
    assert stretches[-1].high == 20.0
    for before, after in pairwise(stretches):
        assert before.high == after.low
        assert before.cheapest != after.cheapest
    for stretch in stretches:
        middle = (stretch.low + stretch.high) / 2
        lowest = min(ray.at(middle) for ray in rays)
        assert {round(rays[index].at(middle), 9) for index in stretch.cheapest} == {
            round(lowest, 9)
        }
