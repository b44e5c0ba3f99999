"""Laws of the tests and intervals of several runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.special import ndtri, xlogy

from offdiag.metrics.paired.hypothesis_tests import (
    benjamini_hochberg,
    bowker,
    holm,
    mcnemar,
    stuart_maxwell,
)
from offdiag.metrics.paired.joint_counts import PairedRates, joint_counts
from offdiag.metrics.paired.proportions import paired_score_interval
from offdiag.metrics.paired.scores import delong
from support.matrices import numbered_labels

COUNTS = st.integers(0, 10**9)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)
TABLES = st.integers(2, 6).flatmap(lambda k: arrays(np.int64, (k, k), elements=st.integers(0, 40)))
RUNS = st.integers(1, 60).flatmap(
    lambda n: st.tuples(*(arrays(np.uint8, n, elements=st.integers(0, 3)) for _ in range(3)))
)


@given(COUNTS, COUNTS)
def test_mcnemar_p_values_are_probabilities_and_symmetric(b: int, c: int) -> None:
    found, swapped = mcnemar(b, c), mcnemar(c, b)

    assert 0 <= found.mid_p <= found.exact_p <= 1
    assert (found.exact_p, found.mid_p, found.chi2_cc_p) == (
        swapped.exact_p,
        swapped.mid_p,
        swapped.chi2_cc_p,
    )
    if found.chi2 is not None and found.chi2_cc is not None:
        assert 0 <= found.chi2_cc <= found.chi2


@given(COUNTS, st.integers(0, 10**6))
def test_a_wider_gap_is_never_less_evidence(b: int, gap: int) -> None:
    assert mcnemar(b, b + gap + 1).mid_p <= mcnemar(b, b + gap).mid_p * (1 + 1e-9)


@given(
    st.integers(1, 10**6).flatmap(
        lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n))
    )
)
def test_the_score_interval_holds_the_difference_and_mirrors(counts: tuple[int, int, int]) -> None:
    first, second, n = counts
    assume(first + second <= n)
    rates = PairedRates(np.array(first), np.array(second), np.array(n))
    mirrored = PairedRates(np.array(second), np.array(first), np.array(n))

    bounds, opposite = paired_score_interval(rates), paired_score_interval(mirrored)

    assert -1 <= bounds.low <= (second - first) / n <= bounds.high <= 1
    assert bounds.low < bounds.high
    assert opposite.low == pytest.approx(-bounds.high, abs=1e-9)
    assert opposite.high == pytest.approx(-bounds.low, abs=1e-9)


@given(
    st.integers(2, 500).flatmap(
        lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n))
    ),
    st.floats(0.5, 0.99),
)
def test_the_ends_of_the_score_interval_are_rejected_by_just_z(
    counts: tuple[int, int, int], confidence: float
) -> None:
    first, second, n = counts
    assume(first + second <= n)
    bounds = paired_score_interval(
        PairedRates(np.array(first), np.array(second), np.array(n)), confidence=confidence
    )
    for end in (float(bounds.low), float(bounds.high)):
        if abs(end) > 1 - 1e-9:
            continue
        # The share of samples right in the first run alone that is likeliest given the difference.
        share = np.linspace(max(0.0, -end), (1 - end) / 2, 200_001)
        likelihood = (
            xlogy(second, share + end)
            + xlogy(first, share)
            + xlogy(n - first - second, np.maximum(1 - 2 * share - end, 0.0))
        )
        likeliest = share[np.argmax(likelihood)]
        score = (second - first - n * end) / np.sqrt(n * (2 * likeliest + end - end * end))
        assert abs(score) == pytest.approx(abs(ndtri((1 - confidence) / 2)), rel=5e-3)


@given(P_VALUES)
def test_adjusting_never_lowers_a_p_value_nor_changes_the_order(p: list[float]) -> None:
    values = np.array(p)

    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(values)
        assert (adjusted >= values).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(values)]) >= 0).all()
    assert (benjamini_hochberg(values) <= holm(values) + 1e-15).all()


@given(TABLES, st.randoms(use_true_random=False))
def test_table_tests_do_not_depend_on_the_order_of_classes(
    table: NDArray[np.int64], random: object
) -> None:
    order = list(range(len(table)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = table[np.ix_(order, order)]

    for test in (bowker, stuart_maxwell):
        before, after = test(table), test(shuffled)
        assert before.df == after.df
        assert (before.chi2 is None) == (after.chi2 is None)
        if before.chi2 is not None:
            assert after.chi2 == pytest.approx(before.chi2, rel=1e-8, abs=1e-8)
            assert before.p is not None
            assert 0 <= before.p <= 1


@given(TABLES)
def test_equal_margins_follow_from_symmetry(table: NDArray[np.int64]) -> None:
    symmetric = table + np.swapaxes(table, 0, 1)

    for test in (bowker, stuart_maxwell):
        chi2 = test(symmetric).chi2
        assert chi2 is None or chi2 == pytest.approx(0.0, abs=1e-12)


@settings(deadline=None)
@given(RUNS)
def test_joint_counts_keep_all_there_is_to_know(
    runs: tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]],
) -> None:
    actual, first, second = runs
    joint = joint_counts(actual=actual, first=first, second=second, labels=numbered_labels(4))
    hits, alarms = joint.hits, joint.false_alarms

    assert joint.total == len(actual)
    gained = joint.second_matrix.counts - joint.first_matrix.counts
    assert (hits.only_second - hits.only_first).tolist() == np.diagonal(gained).tolist()
    assert (alarms.only_second - alarms.only_first).tolist() == (
        joint.second_matrix.predicted - joint.first_matrix.predicted - np.diagonal(gained)
    ).tolist()


@settings(deadline=None)
@given(
    arrays(np.bool_, 30, elements=st.booleans()),
    arrays(np.float64, (2, 30), elements=st.integers(-5, 5).map(float)),
)
def test_delong_depends_on_ranks_only(
    truth: NDArray[np.bool_], scores: NDArray[np.float64]
) -> None:
    plain = delong(truth, scores[0], scores[1])

    bent = delong(truth, np.exp(scores[0]), scores[1] ** 3 + scores[1])

    assert bent == plain
