"""Several metrics at one level: critical values, intervals that decide, what is left out."""

from __future__ import annotations

from math import inf, isnan, nan, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import cost_gradients
from offdiag.metrics.gradients import Gradient
from offdiag.metrics.intervals.delta import aggregate_gradients
from offdiag.metrics.paired.hypothesis_tests import mcnemar
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts
from offdiag.metrics.paired.simultaneous_tests import (
    JointTest,
    Statistic,
    critical_value,
    judge_together,
    moves,
    paired_statistics,
    pooled_matrix,
)
from offdiag.metrics.paired.unpaired_runs import (
    judge_unpaired,
    unpaired_statistics,
    value_covariance,
)
from offdiag.metrics.suite import evaluate_stack
from support.gradients import class_gradient
from support.matrices import matrix_of, numbered_labels, two_runs

HEADLINE = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "cohen_kappa")
LABELS = LabelSet(("a", "b", "c", "d"))
PREVALENCE = np.array([0.7, 0.1, 0.1, 0.1])
WEIGHTS = np.array(
    [[0.0, 1.0, 2.0, 9.0], [4.0, -1.0, 3.0, 2.0], [1.0, 1.0, 0.0, 5.0], [20.0, 3.0, 8.0, 0.5]]
)


def _joint(seed: int = 0, *, n: int = 400, hits: tuple[float, float] = (0.7, 0.75)) -> JointCounts:
    rng = np.random.default_rng(seed)
    actual = rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])
    guesses = rng.integers(0, 4, (2, n))
    first, second = (
        np.where(rng.random(n) < hit, actual, guess)
        for hit, guess in zip(hits, guesses, strict=True)
    )
    return joint_counts(actual=actual, first=first, second=second, labels=LABELS)


def _pooled(joint: JointCounts) -> ConfusionMatrix:
    return pooled_matrix([joint.first_matrix, joint.second_matrix])


def _differences(joint: JointCounts) -> dict[str, float]:
    first, second = (
        evaluate_stack(matrix.counts, ordinal=False).aggregate
        for matrix in (joint.first_matrix, joint.second_matrix)
    )
    return {
        key: (second[key].at().value or nan) - (first[key].at().value or nan) for key in HEADLINE
    }


def _statistics(joint: JointCounts) -> dict[str, Statistic]:
    gradients = aggregate_gradients(_pooled(joint), HEADLINE)
    return paired_statistics(joint, gradients, _differences(joint))


@pytest.mark.parametrize("seed", range(5))
def test_accuracy_is_the_root_of_mcnemars_chi_square(seed: int) -> None:
    joint = _joint(seed)
    only_first, only_second = int(joint.accuracy.only_first), int(joint.accuracy.only_second)
    t = _statistics(joint)["overall_accuracy"].t
    assert t == pytest.approx((only_second - only_first) / sqrt(only_first + only_second))
    assert t**2 == pytest.approx(mcnemar(only_first, only_second).chi2)


def test_recall_is_mcnemars_within_the_class() -> None:
    joint = _joint()
    gradient = class_gradient(_pooled(joint), "recall", 1)
    lost, gained = int(joint.hits.only_first[1]), int(joint.hits.only_second[1])
    difference = (gained - lost) / int(joint.hits.cases[1])
    found = paired_statistics(joint, {"b": gradient}, {"b": difference})["b"]
    assert found.linear == pytest.approx(difference)
    assert found.t == pytest.approx((gained - lost) / sqrt(gained + lost))


def _published_slopes(matrix: ConfusionMatrix) -> dict[str, NDArray[np.float64]]:
    """Slopes by one more sample, in closed form, up to a constant of each row."""
    t, p, d = (each.astype(float) for each in (matrix.actual, matrix.predicted, matrix.correct))
    n, k, hit = float(matrix.total), matrix.n_classes, np.eye(matrix.n_classes)
    s, tp = d.sum(), t @ p
    e, q = n**2 - p @ p, n**2 - t @ t
    return {
        "overall_accuracy": hit / n,
        "balanced_accuracy": hit / t[:, None] / k,
        "macro_f1": (2 * hit / (t + p) - 2 * d / (t + p) ** 2) / k,
        "mcc": (n * hit - t) / sqrt(e * q) + (s * n - tp) * p / (e * sqrt(e * q)),
        "cohen_kappa": ((n * hit - t) * (n**2 - tp) + (s * n - tp) * t) / (n**2 - tp) ** 2,
        "mean_cost": WEIGHTS / n,
        "cost at prevalence": WEIGHTS * PREVALENCE[:, None] / t[:, None],
        "recall of c": hit * (np.arange(k) == 2)[:, None] / t[2],
    }


def test_slopes_are_the_published_ones_up_to_a_constant_of_each_row() -> None:
    pooled = _pooled(_joint())
    costs = CostMatrix(WEIGHTS, LABELS)
    gradients: dict[str, Gradient] = {
        **aggregate_gradients(pooled, HEADLINE),
        "mean_cost": cost_gradients(pooled, costs, None)["mean_cost"],
        "cost at prevalence": cost_gradients(pooled, costs, PREVALENCE)["mean_cost"],
        "recall of c": class_gradient(pooled, "recall", 2),
    }
    actual, predicted = np.indices((4, 4))
    for key, published in _published_slopes(pooled).items():
        found = gradients[key].at(actual, predicted) / pooled.total
        gap = found - published
        assert gap == pytest.approx(np.broadcast_to(gap[:, :1], (4, 4)), abs=1e-12), key


@pytest.mark.parametrize("key", ["precision", "f1", "specificity", "mcc_ovr"])
def test_slopes_of_a_class_are_what_one_sample_more_changes(key: str) -> None:
    counts = _pooled(_joint(n=50_000)).counts
    matrix = ConfusionMatrix(counts.copy(), LABELS)
    gradient = class_gradient(matrix, key, 1)

    def value(moved: NDArray[np.int64]) -> float:
        return evaluate_stack(moved, ordinal=False).per_class[key].at(1).value or nan

    for actual, before, after in ((1, 1, 0), (1, 2, 1), (0, 1, 0), (0, 2, 3), (3, 0, 1)):
        moved = counts.copy()
        moved[actual, before] -= 1
        moved[actual, after] += 1
        at = (np.array([actual, actual]), np.array([before, after]))
        slope_before, slope_after = gradient.at(*at)
        assert value(moved) - value(counts) == pytest.approx(
            (slope_after - slope_before) / matrix.total, rel=1e-3, abs=1e-12
        )


def test_swapping_the_runs_turns_every_sign() -> None:
    joint = _joint()
    forth, back = _statistics(joint), _statistics(joint.swapped())
    for key in HEADLINE:
        assert forth[key].t == pytest.approx(-back[key].t)
        assert forth[key].error == pytest.approx(back[key].error)


def test_the_spread_is_that_of_swapping_the_predictions_of_random_samples() -> None:
    joint = _joint(n=60, hits=(0.6, 0.6))
    gradients = aggregate_gradients(_pooled(joint), HEADLINE)
    moved = np.repeat(moves(joint, gradients), joint.counts, axis=1)
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (20_000, joint.total))
    swapped = np.std(signs @ moved.T, axis=0)
    errors = [found.error for found in _statistics(joint).values()]
    assert swapped == pytest.approx(errors, rel=0.02)


@pytest.mark.parametrize(
    ("difference", "linear", "error", "t", "reach"),
    [
        (0.2, 0.3, 0.1, 2.0, 0.2),
        (-0.3, -0.2, 0.1, -2.0, 0.3),
        (0.2, -0.1, 0.1, 0.0, 0.2),
        (0.1, -0.1, 0.1, 0.0, 0.2),
        (0.3, -0.1, 0.1, 0.0, 0.3),
        (0.0, 0.1, 0.1, 0.0, 0.2),
        (0.2, 0.2, 0.0, 0.0, None),
        (nan, 0.2, 0.1, nan, None),
        (0.2, 0.2, nan, nan, None),
        (0.2, inf, nan, nan, None),
    ],
)
def test_the_smaller_of_two_statistics_decides(
    difference: float, linear: float, error: float, t: float, reach: float | None
) -> None:
    found = Statistic(difference, linear, error)
    assert found.t == pytest.approx(t, nan_ok=True)
    assert found.reach(2.0) == (None if reach is None else pytest.approx(reach))


@pytest.mark.parametrize(
    ("difference", "linear", "own_error", "t", "reach"),
    [
        (0.2, 0.3, 0.4, 0.5, 0.8),
        (-0.2, -0.3, 0.4, -0.5, 0.8),
        (0.8, 0.1, 0.4, 1.0, 1.6),
        (0.2, 0.3, 0.05, 2.0, 0.2),
        (0.2, 0.3, nan, 2.0, 0.2),
        (0.2, -0.1, 0.4, 0.0, 0.8),
        (0.0, 0.1, 0.4, 0.0, 0.8),
    ],
)
def test_the_error_at_the_runs_own_matrices_counts_for_the_difference_where_it_is_larger(
    difference: float, linear: float, own_error: float, t: float, reach: float
) -> None:
    found = Statistic(difference, linear, 0.1, own_error)

    assert found.t == pytest.approx(t)
    assert found.reach(2.0) == pytest.approx(reach)


def test_runs_that_differ_only_between_wrong_predictions_of_one_slope_have_no_spread() -> None:
    # Both wrong classes are alike for macro F1, but for the rounding of their slopes.
    actual = np.repeat([0, 1, 2], [10, 7, 7])
    first, second = actual.copy(), actual.copy()
    first[:2], second[:2] = [1, 2], [2, 1]
    labels = LabelSet(("a", "b", "c"))
    joint = joint_counts(actual=actual, first=first, second=second, labels=labels)
    found = paired_statistics(
        joint, aggregate_gradients(_pooled(joint), HEADLINE), dict.fromkeys(HEADLINE, 1e-17)
    )
    assert [each.t for each in found.values()] == [0.0] * len(HEADLINE)
    assert all(each.error == 0 for each in found.values())


def test_the_spread_of_runs_on_other_samples_adds_up() -> None:
    first, second = _joint(1, n=2_000).first_matrix, _joint(2, n=500).first_matrix
    gradients = aggregate_gradients(pooled_matrix([first, second]), HEADLINE)
    rates = [matrix.n_right / matrix.total for matrix in (first, second)]
    differences = dict.fromkeys(HEADLINE, nan) | {"overall_accuracy": rates[1] - rates[0]}
    found = unpaired_statistics(first, second, gradients, differences)
    apart = sum(p * (1 - p) / m.total for p, m in zip(rates, (first, second), strict=True))
    rate = (first.n_right + second.n_right) / (first.total + second.total)
    together = rate * (1 - rate) * (1 / first.total + 1 / second.total)
    error = sqrt(max(apart, together))
    assert found["overall_accuracy"].error == pytest.approx(error)
    assert found["overall_accuracy"].t == pytest.approx((rates[1] - rates[0]) / error)
    assert isnan(found["mcc"].t)
    assert value_covariance(first, gradients)[0, 0] == pytest.approx(
        rates[0] * (1 - rates[0]) / first.total
    )


KEYS = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "cohen_kappa")


def judged(joint: JointCounts) -> JointTest:
    first, second = (
        evaluate_stack(matrix.counts, ordinal=False).aggregate
        for matrix in (joint.first_matrix, joint.second_matrix)
    )
    return judge_together(
        joint, {key: float(second[key].value - first[key].value) for key in KEYS}
    )


def test_metrics_that_move_together_need_no_correction() -> None:
    assert critical_value(np.ones((5, 5))) == pytest.approx(norm.ppf(0.975), abs=1e-6)


def test_independent_metrics_need_nearly_bonferroni() -> None:
    sidak = norm.ppf((1 + 0.95 ** (1 / 5)) / 2)

    assert critical_value(np.eye(5)) == pytest.approx(sidak, abs=0.03)
    assert critical_value(np.eye(5)) <= norm.ppf(1 - 0.025 / 5)


def test_the_scale_of_a_metric_does_not_matter() -> None:
    covariance = np.array([[1.0, 0.5], [0.5, 1.0]])
    scale = np.outer([1, 1e-3], [1, 1e-3])

    assert critical_value(covariance * scale) == pytest.approx(critical_value(covariance))


@pytest.mark.parametrize("size", [0, 1])
def test_one_metric_is_alone(size: int) -> None:
    assert critical_value(np.eye(size)) == pytest.approx(1.959964)


def test_the_critical_value_is_the_quantile_of_the_largest() -> None:
    covariance = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.4], [0.2, 0.4, 1.0]])
    drawn = np.random.default_rng(0).multivariate_normal(np.zeros(3), covariance, 200_000)

    assert critical_value(covariance) == pytest.approx(
        np.quantile(np.abs(drawn).max(axis=1), 0.95), abs=0.03
    )


def test_an_interval_excludes_zero_exactly_where_t_is_beyond() -> None:
    for seed in range(8):
        test = judged(two_runs(n_samples=400, n_classes=3, seed=seed))
        for key in test.tested:
            for critical in (test.alone, test.critical):
                low, high = test.intervals(key, critical=critical).bounds.at()
                assert low is not None
                assert high is not None
                assert (low > 0 or high < 0) == (abs(test.statistics[key].t) > critical)


def test_ends_are_cut_at_the_range_of_a_difference() -> None:
    # Two cases: everything is wrong under one run and right under the other.
    joint = joint_counts(
        actual=np.array([0, 1, 0, 1]),
        first=np.array([0, 1, 0, 0]),
        second=np.array([1, 0, 1, 1]),
        labels=numbered_labels(2),
    )

    low, high = judged(joint).intervals("balanced_accuracy", critical=9.0).bounds.at()

    assert (low, high) == (-1.0, 1.0)


def test_runs_that_agree_everywhere_are_not_tested() -> None:
    test = judged(two_runs(n_samples=90, n_classes=3, shared=1.0))

    assert test.tested == ()
    assert test.left_out == KEYS
    assert test.critical == test.alone
    assert test.intervals("mcc", critical=2.0).at().low is None


def test_an_undefined_metric_takes_no_part() -> None:
    joint = two_runs(n_samples=400, n_classes=3, seed=3)

    test = judge_together(joint, {"mcc": nan, "macro_f1": 0.01})

    assert test.tested == ("macro_f1",)
    assert test.critical == test.alone
    assert test.intervals("mcc", critical=2.0).at().low is None


def test_few_samples_in_a_class_are_noted() -> None:
    joint = two_runs(n_samples=30, n_classes=3, seed=1)
    smallest = int(joint.first_matrix.actual.min())

    found = judged(joint).intervals("macro_f1", critical=2.0).at()

    assert found.note == f"unreliable, smallest class has n = {smallest}"


def test_swapping_the_runs_changes_signs_and_nothing_else() -> None:
    joint = two_runs(n_samples=500, n_classes=4, seed=6)
    there, back = judged(joint), judged(joint.swapped())

    assert back.critical == there.critical
    for key in KEYS:
        assert back.statistics[key].t == -there.statistics[key].t, key


def test_variances_of_unpaired_runs_add_up() -> None:
    first, second = matrix_of([[90, 10], [20, 80]]), matrix_of([[80, 20], [20, 80]])
    gap = {"overall_accuracy": -0.05}

    test = judge_unpaired(first, second, gap)

    # The slopes of accuracy are the same everywhere, so its variance is the binomial one, of both
    # runs together where that is larger.
    expected = np.sqrt(2 * 0.825 * 0.175 / 200)
    assert test.statistics["overall_accuracy"].error == pytest.approx(expected)
    assert test.statistics["overall_accuracy"].t == pytest.approx(-0.05 / expected)


def test_ten_samples_by_equally_good_unpaired_runs_keep_the_level() -> None:
    """By the variance of each run at its own matrix one was called better in 10 % of data sets."""
    n_sets, claims = 150, 0
    drawn = np.random.default_rng(3).binomial(5, 0.8, size=(n_sets, 2, 2))
    # With ten samples nearly every other pair was there before.
    for pair, times in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
        runs = [matrix_of([[a, 5 - a], [5 - b, b]]) for a, b in pair]
        values = [evaluate_stack(run.counts, ordinal=False).aggregate for run in runs]
        gaps = {key: float(values[1][key].value - values[0][key].value) for key in KEYS}
        test = judge_unpaired(runs[0], runs[1], gaps)
        claims += times * any(abs(test.statistics[key].t) > test.critical for key in test.tested)
    assert claims / n_sets <= 0.06


def test_a_confidence_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput):
        judge_together(two_runs(n_samples=60, n_classes=3), {"mcc": 0.1}, confidence=95)
