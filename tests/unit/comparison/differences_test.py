"""Differences of matrices, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.comparison.differences import class_values, paired_cells, unpaired_cells
from offdiag.metrics.paired.joint_counts import PairedRates
from offdiag.metrics.paired.proportions import paired_score_interval
from offdiag.stats import wilson
from support.comparisons import joint_of
from support.matrices import matrix_of, two_runs


def test_gains_are_those_of_the_two_matrices() -> None:
    joint = two_runs(n_samples=300, n_classes=4, seed=3)

    cells = paired_cells(joint, confidence=0.95)

    expected = joint.second_matrix.counts - joint.first_matrix.counts
    rebuilt = np.zeros_like(expected)
    rebuilt[cells.actual, cells.predicted] = cells.gained
    assert rebuilt.tolist() == expected.tolist()
    assert cells.share == pytest.approx(
        cells.gained / joint.first_matrix.actual[cells.actual], abs=1e-15
    )


def test_the_interval_of_a_cell_is_tangos() -> None:
    joint = joint_of(
        [("a", "a", "a", 30), ("a", "b", "a", 9), ("a", "a", "b", 2), ("b", "b", "b", 5)],
        ("a", "b"),
    )

    cells = paired_cells(joint, confidence=0.95)

    place = cells.places[0, 0]
    bounds = paired_score_interval(PairedRates(np.array(2), np.array(9), np.array(41)))
    assert (cells.low[place], cells.high[place]) == (float(bounds.low), float(bounds.high))


def test_cells_that_no_case_left_or_entered_are_not_listed() -> None:
    joint = joint_of([("a", "a", "a", 30), ("b", "a", "b", 3)], ("a", "b"))

    cells = paired_cells(joint, confidence=0.95)

    assert set(cells.places) == {(1, 0), (1, 1)}


def test_more_right_answers_and_fewer_errors_are_better() -> None:
    joint = joint_of([("a", "b", "a", 20), ("b", "b", "a", 20)], ("a", "b"))

    cells = paired_cells(joint, confidence=0.95)

    better = {pair: bool(cells.is_better[place]) for pair, place in cells.places.items()}
    assert better == {(0, 0): True, (0, 1): True, (1, 0): False, (1, 1): False}
    assert cells.is_worse.tolist() == (~cells.is_better).tolist()
    assert cells.is_certain.all()


def test_equal_traffic_in_both_directions_is_neither_better_nor_certain() -> None:
    joint = joint_of([("a", "a", "b", 5), ("a", "b", "a", 5)], ("a", "b"))

    cells = paired_cells(joint, confidence=0.95)

    assert cells.gained.tolist() == [0, 0]
    assert not cells.is_better.any()
    assert not cells.is_worse.any()
    assert not cells.is_certain.any()


def test_without_pairs_the_intervals_are_those_newcombe_publishes() -> None:
    # Newcombe 1998, Statistics in Medicine 17, 873-890, Table II, method 10: 56/70 - 48/80.
    first = matrix_of([[48, 32], [0, 1]])
    second = matrix_of([[56, 14], [0, 1]])

    cells = unpaired_cells(first, second, confidence=0.95)

    place = cells.places[0, 0]
    assert cells.low[place] == pytest.approx(0.0524, abs=1e-4)
    assert cells.high[place] == pytest.approx(0.3339, abs=1e-4)


def test_a_class_without_cases_in_one_matrix_has_no_share() -> None:
    cells = unpaired_cells(
        matrix_of([[5, 0], [0, 0]]), matrix_of([[5, 0], [1, 3]]), confidence=0.95
    )

    assert set(cells.places) == {(1, 0), (1, 1)}
    assert np.isnan(cells.share).all()
    assert not cells.is_certain.any()
    assert not cells.is_better.any()


def test_every_value_has_wilsons_interval() -> None:
    found = class_values(matrix_of([[8, 2, 0], [1, 9, 0], [0, 0, 0]]))

    recall = found["recall"][0]
    assert (recall.value, (recall.ci_low, recall.ci_high)) == (0.8, wilson(8, 10))
    precision = found["precision"][1]
    assert (precision.value, (precision.ci_low, precision.ci_high)) == (9 / 11, wilson(9, 11))
    assert found["f1"][0].ci_low is not None


def test_a_class_without_cases_has_no_recall() -> None:
    found = class_values(matrix_of([[8, 2], [0, 0]]))

    assert found["recall"][1].reason == "no_actual_positives"
    assert found["recall"][1].ci_low is None
