"""Slices that are worse are found, at the error rate that is stated, and nothing else is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import hypergeom

from offdiag.inputs.slice_columns import read_slices
from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.slices.counts import (
    CodedColumn,
    count_slices,
    outcomes_of_classes,
    outcomes_of_sets,
)
from offdiag.metrics.slices.finder import SliceFindings, SliceGap, find_slices
from offdiag.metrics.slices.gaps import (
    SLOPES,
    Margins,
    aggregate_statistic,
    difference_interval,
    exact_p,
)
from offdiag.metrics.suite import evaluate_stack
from support.optional import present

Ints = NDArray[np.int64]


def coded(columns: dict[str, object], n: int) -> list[CodedColumn]:
    return [
        CodedColumn(name, each.choices, each.codes, each.membership)
        for name, each in read_slices(columns, n_samples=n).items()
    ]


def found_in(
    columns: dict[str, object], actual: Ints, predicted: Ints, n_classes: int = 2
) -> SliceFindings:
    n = len(actual)
    half = np.random.default_rng(7).integers(0, 2, n)
    outcomes = outcomes_of_classes(actual, predicted, n_classes=n_classes, part=half, n_parts=2)
    counts = count_slices(coded(columns, n), outcomes, n_samples=n, n_parts=2)
    matrix = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(matrix, (actual, predicted), 1)
    return find_slices(counts, matrix)


def significant(found: SliceFindings) -> list[SliceGap]:
    return [each for each in found.worst() if each.is_significant]


def named(gap: SliceGap) -> str:
    return " & ".join(f"{name}={value}" for name, value in gap.terms)


def floats(*numbers: float) -> list[NDArray[np.float64]]:
    return [np.array([float(each)]) for each in numbers]


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_p_is_twice_the_smaller_tail_of_the_hypergeometric(a: int, b: int, c: int, d: int) -> None:
    hits, cases, theirs, rest = a, a + b, c, c + d
    found = exact_p(*floats(hits, cases, theirs, rest))[0]

    if not cases or not rest:
        assert found == 1
        return
    law = hypergeom(cases + rest, hits + theirs, cases)
    tails = (law.cdf(hits), law.sf(hits - 1))
    assert found == pytest.approx(min(1, 2 * min(tails) - law.pmf(hits)), rel=1e-9, abs=1e-14)


def test_the_interval_of_a_difference_is_newcombes() -> None:
    # Newcombe 1998, table II, method 10: 56/70 - 48/80 and 9/10 - 3/10.
    for numbers, low, high in (
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
    ):
        found = difference_interval(*floats(*numbers), confidence=0.95)
        assert found.low[0] == pytest.approx(low, abs=5e-5)
        assert found.high[0] == pytest.approx(high, abs=5e-5)


@pytest.mark.parametrize("key", ["overall_accuracy", *SLOPES])
def test_metrics_of_margins_are_those_of_the_matrix(key: str) -> None:
    stack = np.random.default_rng(1).integers(0, 30, (50, 3, 3))
    stack[0, 1] = 0
    diagonal = stack.diagonal(axis1=1, axis2=2).astype(float)
    margins = Margins(stack.sum(axis=2).astype(float), stack.sum(axis=1).astype(float), diagonal)

    np.testing.assert_array_equal(
        margins.values(key), evaluate_stack(stack, ordinal=False).aggregate[key].value
    )


@pytest.mark.parametrize("key", SLOPES)
def test_slopes_are_the_derivatives_of_the_metric_along_a_row(key: str) -> None:
    matrix = np.array([[50.0, 7, 3], [4, 30, 6], [2, 5, 20]])

    def margins(of: NDArray[np.float64]) -> Margins:
        return Margins(of.sum(1)[None], of.sum(0)[None], np.diagonal(of)[None].copy())

    if_right, if_wrong = (each[0] for each in SLOPES[key](margins(matrix)))
    step = 1e-5
    for row in range(3):
        for column in range(3):
            moved = matrix.copy()
            moved[row, row] -= step
            moved[row, column] += step
            change = margins(moved).values(key)[0] - margins(matrix).values(key)[0]
            slope = 0.0 if row == column else if_wrong[column] - if_right[row]
            assert change / step == pytest.approx(slope, rel=1e-3, abs=1e-7)


@pytest.mark.parametrize("key", SLOPES)
def test_statistics_of_averages_are_standard_normal_without_an_effect(key: str) -> None:
    rng = np.random.default_rng(4)
    profile = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7]])

    def groups(support: Sequence[int]) -> Margins:
        drawn = np.stack([rng.multinomial(n, profile[k], 4_000) for k, n in enumerate(support)], 1)
        diagonal = drawn.diagonal(axis1=1, axis2=2)
        return Margins(*(each.astype(float) for each in (drawn.sum(2), drawn.sum(1), diagonal)))

    # The slice has other shares of the classes than the rest, which is not an effect.
    errors = profile * (1 - np.eye(3))
    errors /= errors.sum(axis=1, keepdims=True)
    found = aggregate_statistic(key, groups([40, 60, 20]), groups([400, 200, 100]), errors)

    assert np.mean(np.abs(found) > 1.96) < 0.06


def failing(effect: str, n: int = 2_000) -> tuple[dict[str, object], Ints, Ints]:
    rng = np.random.default_rng(3)
    site, device = rng.integers(0, 4, n), rng.integers(0, 3, n)
    actual = rng.integers(0, 2, n)
    where = {
        "none": np.zeros(n, dtype=bool),
        "site": site == 2,
        "cross": (site == 2) & (device == 1),
    }[effect]
    recall = np.where(where & (actual == 1), 0.4, 0.9)
    predicted = np.where(rng.random(n) < recall, actual, 1 - actual)
    columns: dict[str, object] = {
        "device": np.array(["camera", "phone", "scanner"])[device],
        "site": np.array(["w", "x", "y", "z"])[site],
    }
    return columns, actual, predicted


def test_the_slice_that_fails_is_first_and_its_crosses_say_no_more() -> None:
    found = found_in(*failing("site"))

    worst = significant(found)
    assert {named(each) for each in worst} == {"site=y"}
    recall = next(each for each in worst if each.key == "recall")
    assert recall.code == 1
    assert recall.confirmed is True
    assert present(recall.gap_low) < recall.gap < (recall.gap_high or 0) < 0
    errors = found.total[0] - found.total[1]
    excess = recall.cases * present(recall.rest_hits) / recall.rest_cases - present(recall.hits)
    assert recall.explained == pytest.approx(excess / errors)
    ends = wilson(present(recall.hits), recall.cases)
    assert (recall.low, recall.high) == (float(ends.low), float(ends.high))


def test_a_cross_is_found_where_it_says_more_than_both_columns() -> None:
    worst = significant(found_in(*failing("cross")))

    assert named(worst[0]) == "device=phone & site=y"


def test_nothing_is_found_where_nothing_is_there() -> None:
    found = found_in(*failing("none"))

    assert significant(found) == []
    assert found.n_found == 0
    assert found.n_tests > 50


def test_few_errors_are_no_proof_by_an_average_either() -> None:
    """Four of 20 are wrong where 2.7 % are elsewhere: nothing among 50 slices, exactly counted."""
    n, n_slices = 1_000, 50
    site = np.arange(n) % n_slices
    actual = np.arange(n) // n_slices % 2
    is_wrong = np.isin(np.arange(n), 10 * n_slices + 2 * np.arange(26) - 1)
    is_wrong |= (site == 0) & (np.arange(n) < 4 * n_slices)

    found = found_in({"site": site}, actual, np.where(is_wrong, 1 - actual, actual))

    assert significant(found) == []
    assert named(found.worst(1)[0]) == "site=0"


def test_a_level_of_a_hierarchy_has_to_say_more_than_the_level_above() -> None:
    rng = np.random.default_rng(3)
    site = np.array(["JP/a", "JP/b", "DE/c", "DE/d"])[rng.integers(0, 4, 3_000)]
    actual = rng.integers(0, 2, 3_000)
    bad = np.char.startswith(site, "JP")
    predicted = np.where(rng.random(3_000) < np.where(bad, 0.6, 0.9), actual, 1 - actual)

    worst = significant(found_in({"country/site": site}, actual, predicted))

    assert {named(each) for each in worst} == {"country=JP"}


def test_a_slice_that_is_small_or_everything_is_not_tested() -> None:
    columns: dict[str, object] = {"all": ["x"] * 100, "few": ["a"] * 11 + ["b"] * 89}
    found = found_in(columns, np.zeros(100, dtype=np.int64), np.zeros(100, dtype=np.int64), 1)

    assert found.n_tests == 0
    assert found.worst() == []


def test_sets_are_compared_on_whole_sets_and_on_the_recall_of_labels() -> None:
    rng = np.random.default_rng(0)
    n = 1_500
    actual = rng.random((n, 3)) < 0.4
    site = rng.integers(0, 3, n)
    missed = (rng.random((n, 3)) < 0.5) & (site == 1)[:, np.newaxis]
    predicted = actual & ~missed
    whole = np.zeros(n, dtype=np.uint8)
    outcomes = outcomes_of_sets(actual, predicted, part=whole, n_parts=1)
    found = find_slices(count_slices(coded({"site": site}, n), outcomes, n_samples=n), None)

    assert {each.key for each in significant(found)} == {"subset_accuracy", "recall"}
    assert {named(each) for each in significant(found)} == {"site=1"}
    assert all(each.confirmed is None for each in significant(found))
