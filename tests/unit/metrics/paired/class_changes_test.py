"""Classes that change: tested one by one, named at one level for all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from offdiag.metrics.paired.class_changes import (
    ClassChanges,
    class_moves,
    confidence_together,
    own_class_errors,
    recall_changes,
    sloped_changes,
)
from offdiag.metrics.paired.hypothesis_tests import holm, mcnemar, mid_p_values
from offdiag.metrics.paired.joint_counts import PairedRates
from offdiag.metrics.paired.proportions import paired_score_interval
from offdiag.metrics.paired.simultaneous_tests import moves, pooled_matrix
from offdiag.metrics.suite import evaluate_stack
from support.gradients import class_gradient
from support.matrices import two_runs


def changes(lost: list[int], won: list[int], cases: list[int]) -> ClassChanges:
    return recall_changes(PairedRates(np.array(lost), np.array(won), np.array(cases)))


def test_mid_p_values_are_those_of_one_test_each() -> None:
    lost, won = (each.ravel() for each in np.meshgrid(np.arange(9), np.arange(9)))

    assert mid_p_values(lost, won) == pytest.approx(
        [mcnemar(b, c).mid_p for b, c in zip(lost.tolist(), won.tolist(), strict=True)]
    )


def test_holm_counts_the_classes_that_have_samples() -> None:
    found = changes([9, 0, 3, 0], [1, 0, 2, 0], [50, 40, 30, 0])

    expected = holm([mcnemar(9, 1).mid_p, 1.0, mcnemar(3, 2).mid_p])
    assert found.n_tested == 3
    assert found.p_adjusted[:3] == pytest.approx(expected)
    assert np.isnan(found.p_adjusted[3])
    assert found.is_changed.tolist() == [bool(expected[0] < 0.05), False, False, False]


def test_the_interval_together_is_that_of_bonferroni() -> None:
    found = changes([20, 3], [2, 2], [100, 80])

    wider = paired_score_interval(
        PairedRates(np.array([20, 3]), np.array([2, 2]), np.array([100, 80])), confidence=0.975
    )
    assert found.together.bounds.low == pytest.approx(wider.low)
    assert found.together.bounds.high == pytest.approx(wider.high)


@pytest.mark.parametrize("n_classes", [1, 4, 20])
def test_the_interval_together_never_contradicts_the_test(n_classes: int) -> None:
    for won in range(30):
        for lost in range(4):
            counts = np.zeros(n_classes, np.int64)
            one = counts.copy()
            counts[0], one[0] = won, lost
            found = recall_changes(PairedRates(one, counts, np.full(n_classes, 60)))
            low, high = found.together.bounds.low[0], found.together.bounds.high[0]
            if found.is_changed[0]:
                assert low >= 0 or high <= 0
            else:
                assert low <= 0 <= high


def test_slopes_of_all_classes_at_once_are_those_of_each() -> None:
    joint = two_runs(n_samples=400, n_classes=4, seed=4)
    pooled = pooled_matrix((joint.first_matrix, joint.second_matrix))

    for key in ("precision", "f1", "recall"):
        linear, error = class_moves(joint, key)
        moved = moves(joint, {str(k): class_gradient(pooled, key, k) for k in range(4)})
        assert linear == pytest.approx(moved @ joint.counts)
        assert error == pytest.approx(np.sqrt(moved**2 @ joint.counts))


def test_precision_takes_the_normal_p_of_its_statistic() -> None:
    joint = two_runs(n_samples=400, n_classes=3, seed=5)
    first, second = (
        evaluate_stack(each.counts, ordinal=False).per_class["precision"].value
        for each in (joint.first_matrix, joint.second_matrix)
    )
    linear, error = class_moves(joint, "precision")
    near, far = own_class_errors(joint, "precision").around(second - first)

    found = sloped_changes(joint, "precision", second - first)

    gap = np.abs(second - first)
    t = np.minimum(gap / np.maximum(error, near), np.abs(linear) / error)
    assert found.p == pytest.approx(2 * norm.sf(t))
    low, high = found.alone.bounds.low, found.alone.bounds.high
    middle = second - first
    towards_0, away = np.where(
        middle > 0, (middle - low, high - middle), (high - middle, middle - low)
    )
    assert towards_0 == pytest.approx(norm.ppf(0.975) * gap / t)
    assert away == pytest.approx(np.maximum(towards_0, norm.ppf(0.975) * far))


def test_a_class_no_changed_sample_counts_for_is_not_tested() -> None:
    joint = two_runs(n_samples=90, n_classes=3, shared=1.0)

    found = sloped_changes(joint, "f1", np.zeros(3))

    assert found.n_tested == 0
    assert np.isnan(found.alone.bounds.low).all()
    assert found.alone.at(0).note == "no sample on which the runs differ counts"


def test_one_interval_keeps_its_confidence() -> None:
    assert confidence_together(0.95, 1) == pytest.approx(0.95)
    assert confidence_together(0.95, 0) == pytest.approx(0.95)
    assert confidence_together(0.95, 10) == pytest.approx(0.995)
