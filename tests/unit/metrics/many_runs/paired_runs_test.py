"""Errors of many runs at once are those of each pair, in whatever way they were counted."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import cost_gradients
from offdiag.metrics.gradients import Gradient
from offdiag.metrics.intervals.delta import aggregate_gradients
from offdiag.metrics.many_runs import paired_runs as module
from offdiag.metrics.many_runs import run_spread
from offdiag.metrics.many_runs.paired_runs import PairedRuns, PairwiseRuns
from offdiag.metrics.many_runs.run_spread import RunSpread, difference_errors, spread_of_recall
from offdiag.metrics.paired import simultaneous_tests
from offdiag.metrics.paired.joint_counts import joint_counts
from offdiag.metrics.paired.simultaneous_tests import paired_statistics
from support.gradients import class_gradient

HEADLINE = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "cohen_kappa")


def _runs(classes: int, *, n: int = 900, m: int = 4) -> PairedRuns:
    rng = np.random.default_rng(classes)
    actual = rng.integers(0, classes, n).astype(np.uint8)
    guesses = rng.integers(0, classes, (m, n))
    predictions = np.where(rng.random((m, n)) < 0.7, actual, guesses).astype(np.uint8)
    return PairedRuns(actual, tuple(predictions), LabelSet.numbered(classes))


def _gradients(runs: PairedRuns) -> dict[str, Gradient]:
    size = len(runs.labels)
    weights = np.random.default_rng(1).random((size, size))
    costs = CostMatrix(weights, runs.labels)
    return {
        **aggregate_gradients(runs.pooled, HEADLINE),
        "cost": cost_gradients(runs.pooled, costs, None)["mean_cost"],
    }


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("most_tabulated", [0, 1_024])
def test_linear_parts_and_errors_are_those_of_every_two_runs(
    classes: int, most_tabulated: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", 250)
    monkeypatch.setattr(run_spread, "MOST_TABULATED", most_tabulated)
    runs = _runs(classes)
    gradients = _gradients(runs)
    spread = runs.spread(gradients)
    for first in range(runs.n_runs):
        for second in range(runs.n_runs):
            joint = joint_counts(
                actual=runs.actual,
                first=runs.predictions[first],
                second=runs.predictions[second],
                labels=runs.labels,
            )
            expected = paired_statistics(joint, gradients, dict.fromkeys(gradients, 0.0))
            for metric, statistic in enumerate(expected.values()):
                assert spread.linear[metric, second, first] == pytest.approx(statistic.linear)
                assert spread.errors[metric, second, first] == pytest.approx(statistic.error)
    assert spread.errors == pytest.approx(difference_errors(spread.covariance, runs.n_runs))


@pytest.mark.parametrize("classes", [2, 4])
def test_errors_at_the_matrices_of_the_runs_are_those_of_every_two_runs(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", 250)
    runs = _runs(classes)
    pairs = {
        (first, second): joint_counts(
            actual=runs.actual,
            first=runs.predictions[first],
            second=runs.predictions[second],
            labels=runs.labels,
        )
        for first, second in combinations(range(runs.n_runs), 2)
    }
    own = [aggregate_gradients(matrix, HEADLINE) for matrix in runs.matrices]
    for counted in (runs, PairwiseRuns(pairs, runs.labels)):
        spread = counted.spread(aggregate_gradients(runs.pooled, HEADLINE), own)
        for (first, second), joint in pairs.items():
            expected = simultaneous_tests.difference_errors(joint, own[first], own[second])
            for metric, error in enumerate(expected.values()):
                assert spread.own_errors[metric, first, second] == pytest.approx(error)
                assert spread.own_errors[metric, second, first] == pytest.approx(error)


def test_pairs_are_counted_for_the_order_of_runs_with_one_matrix_only() -> None:
    runs = _runs(3)
    swapped = PairedRuns(runs.actual, runs.predictions[::-1], runs.labels)
    twice = PairedRuns(runs.actual, (*runs.predictions, runs.predictions[0]), runs.labels)

    assert runs.order.tolist() == (3 - swapped.order).tolist()
    assert len(twice.order) == 5
    assert "both_right" not in vars(runs)
    assert "both_right" in vars(twice)


def test_two_classes_are_counted_as_more_would_be() -> None:
    runs = _runs(2)
    wider = PairedRuns(runs.actual, runs.predictions, LabelSet.numbered(3))
    keys = ("overall_accuracy", "balanced_accuracy", "mcc", "cohen_kappa")
    counted, summed = (
        each.spread(aggregate_gradients(each.pooled, keys)) for each in (runs, wider)
    )
    assert counted.linear == pytest.approx(summed.linear)
    assert counted.errors == pytest.approx(summed.errors)


def test_the_spread_of_recall_is_that_of_its_slopes() -> None:
    runs = _runs(3)
    for code, spread in enumerate(spread_of_recall(runs.both_right, runs.matrices[0].actual)):
        found = runs.spread({"recall": class_gradient(runs.pooled, "recall", code)})
        assert spread.linear == pytest.approx(found.linear)
        assert spread.errors == pytest.approx(found.errors)


def test_samples_right_in_two_runs_are_counted_by_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 100)
    runs = _runs(3)
    right = np.stack([each == runs.actual for each in runs.predictions])
    for code in range(3):
        of_class = right[:, runs.actual == code].astype(int)
        assert runs.both_right[code].tolist() == np.inner(of_class, of_class).tolist()


def test_runs_with_the_same_predictions_have_no_error() -> None:
    runs = _runs(4, m=2)
    doubled = PairedRuns(runs.actual, (*runs.predictions, runs.predictions[0]), runs.labels)
    spread: RunSpread = doubled.spread(_gradients(doubled))
    assert (spread.errors[:, 0, 2] == 0).all()
    assert (spread.errors[:, 0, 1] > 0).all()
