"""Differences of all metrics between two runs on the same samples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.paired import difference
from offdiag.metrics.paired.difference import PairedDifferences, paired_differences
from offdiag.metrics.paired.joint_counts import JointCounts, cell_sums, joint_counts
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, evaluate_stack
from support.matrices import numbered_labels, two_runs


@pytest.fixture(scope="module")
def joint() -> JointCounts:
    return two_runs(n_samples=600, n_classes=3, seed=2, ordinal=True)


@pytest.fixture(scope="module")
def found(joint: JointCounts) -> PairedDifferences:
    return paired_differences(joint)


def test_every_metric_that_can_differ_is_compared(found: PairedDifferences) -> None:
    assert set(AGGREGATE_KEYS) - set(found.aggregate) == {
        "n",
        "n_classes",
        "n_classes_actual",
        "n_classes_predicted",
        "majority_baseline",
        "nir_p_value",
    }
    assert set(PER_CLASS_KEYS) - set(found.per_class) == {
        *("tp", "fn", "fp", "tn", "support", "predicted", "prevalence", "imbalance_coefficient")
    }
    assert set(found.aggregate_intervals) == set(found.aggregate)
    assert set(found.per_class_intervals) == set(found.per_class)


def test_a_difference_is_second_minus_first(joint: JointCounts, found: PairedDifferences) -> None:
    first, second = (
        evaluate_stack(matrix.counts, ordinal=True)
        for matrix in (joint.first_matrix, joint.second_matrix)
    )

    for key, gap in found.aggregate.items():
        assert gap.value == pytest.approx(
            second.aggregate[key].value - first.aggregate[key].value
        ), key
    for key, gap in found.per_class.items():
        assert gap.value == pytest.approx(
            second.per_class[key].value - first.per_class[key].value
        ), key


def test_each_interval_holds_its_difference(found: PairedDifferences) -> None:
    for key, each in found.aggregate_intervals.items():
        value = found.aggregate[key].value
        assert each.bounds.low < value < each.bounds.high, key
    for key, each in found.per_class_intervals.items():
        values = found.per_class[key].value
        assert ((each.bounds.low < values) & (values < each.bounds.high)).all(), key


def test_proportions_of_the_same_cases_take_the_score_interval(found: PairedDifferences) -> None:
    score = {
        key for key, each in found.aggregate_intervals.items() if each.method == "tango score"
    }
    score |= {
        key for key, each in found.per_class_intervals.items() if each.method == "tango score"
    }

    assert score == {
        *("overall_accuracy", "error_rate", "average_accuracy", "average_error_rate"),
        *("micro_precision", "micro_recall", "micro_f1", "weighted_recall"),
        *("recall", "fnr", "fpr", "specificity", "predicted_rate", "accuracy_ovr"),
    }


@pytest.mark.parametrize(("key", "opposite"), [("recall", "fnr"), ("specificity", "fpr")])
def test_opposite_rates_have_mirrored_intervals(
    found: PairedDifferences, key: str, opposite: str
) -> None:
    bounds, mirrored = (found.per_class_intervals[each].bounds for each in (key, opposite))

    assert mirrored.low == pytest.approx(-bounds.high)
    assert mirrored.high == pytest.approx(-bounds.low)


def test_pairing_narrows_the_interval(joint: JointCounts, found: PairedDifferences) -> None:
    rng = np.random.default_rng(0)
    unpaired = joint_counts(
        actual=np.repeat(joint.actual, joint.counts),
        first=np.repeat(joint.first, joint.counts),
        second=_shuffled_within_classes(joint, rng),
        labels=joint.labels,
    )

    apart = paired_differences(unpaired)

    for key in ("macro_f1", "overall_accuracy", "mcc"):
        paired_bounds = found.aggregate_intervals[key].bounds
        apart_bounds = apart.aggregate_intervals[key].bounds
        assert paired_bounds.high - paired_bounds.low < apart_bounds.high - apart_bounds.low


def test_runs_that_agree_everywhere_keep_the_width_of_recall_only() -> None:
    found = paired_differences(two_runs(n_samples=90, n_classes=3, shared=1.0))

    recall = found.per_class_intervals["recall"]
    macro = found.aggregate_intervals["macro_f1"].at()
    assert (recall.bounds.low < 0).all()
    assert (recall.bounds.high > 0).all()
    assert (macro.low, macro.high) == (None, None)
    assert macro.note == "no sample on which the runs differ counts"


def test_with_many_samples_intervals_of_classes_are_those_of_a_bootstrap() -> None:
    joint = two_runs(n_samples=30_000, n_classes=3, seed=5, ordinal=True)
    found = paired_differences(joint)
    drawn = np.random.default_rng(1).multinomial(
        joint.total, joint.counts / joint.total, size=2_000
    )
    before, after = (
        evaluate_stack(cell_sums(cells, n_classes=3).matrices(drawn), ordinal=True).per_class
        for cells in (joint.first_cells, joint.second_cells)
    )

    for key, each in found.per_class_intervals.items():
        low, high = np.quantile(after[key].value - before[key].value, [0.025, 0.975], axis=0)
        assert (np.abs(each.bounds.low - low) < 0.1 * (high - low)).all(), key
        assert (np.abs(each.bounds.high - high) < 0.1 * (high - low)).all(), key


def test_equally_good_runs_seldom_differ_in_metrics_that_are_no_headline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Resampled examples called 7 to 10 % of such pairs different."""
    # Intervals of proportions take half of the time, and none of these metrics is one.
    monkeypatch.setattr(difference, "shared_proportion_intervals", lambda *_, **__: {})
    rng, n_sets = np.random.default_rng(7), 80
    claims = dict.fromkeys(("kappa_quadratic", "markedness_multiclass", "macro_precision"), 0)
    of_classes = dict.fromkeys(("informedness", "gmean", "lr_plus", "npv"), 0)
    labels = numbered_labels(3, ordinal=True)
    actual = np.repeat(np.arange(3, dtype=np.uint8), 20)
    for _ in range(n_sets):
        shared = rng.random((2, 60))
        runs = []
        for _ in range(2):
            luck, place = np.where(rng.random(60) < 0.6, shared, rng.random((2, 60)))
            wrong = (actual + 1 + (place * 2).astype(np.uint8)) % 3
            runs.append(np.where(luck < 0.9, actual, wrong).astype(np.uint8))
        joint = joint_counts(actual=actual, first=runs[0], second=runs[1], labels=labels)
        found = paired_differences(joint)
        for key in claims:
            low, high = found.aggregate_intervals[key].bounds.at()
            claims[key] += (low or 0.0) > 0 or (high or 0.0) < 0
        for key in of_classes:
            bounds = found.per_class_intervals[key].bounds
            of_classes[key] += int(np.sum((bounds.low > 0) | (bounds.high < 0)))
    assert max(claims.values()) / n_sets <= 0.06
    assert max(of_classes.values()) / (3 * n_sets) <= 0.06


def test_a_metric_undefined_for_one_run_has_no_difference() -> None:
    actual = np.repeat([0, 1], 30)
    joint = joint_counts(
        actual=actual, first=np.zeros(60, int), second=actual, labels=numbered_labels(2)
    )

    found = paired_differences(joint)

    assert found.aggregate["mcc"].at().reason == "constant_predicted"
    assert found.aggregate_intervals["mcc"].at().low is None
    assert found.aggregate["macro_f1"].at().value is not None


def test_small_classes_are_pointed_out() -> None:
    joint = two_runs(n_samples=30, n_classes=3, seed=1)
    smallest = int(joint.first_matrix.actual.min())

    found = paired_differences(joint)

    note = found.aggregate_intervals["macro_f1"].at().note
    assert note == f"unreliable, smallest class has n = {smallest}"


def test_no_cases_have_no_differences() -> None:
    nothing = np.array([], np.uint8)
    joint = joint_counts(actual=nothing, first=nothing, second=nothing, labels=numbered_labels(2))

    found = paired_differences(joint)

    assert found.aggregate["macro_f1"].at().reason == "no_cases"
    assert found.aggregate_intervals["overall_accuracy"].bounds.at() == (None, None)


def test_an_unusable_confidence_is_refused(joint: JointCounts) -> None:
    with pytest.raises(InvalidInput):
        paired_differences(joint, confidence=0.0)


def _shuffled_within_classes(joint: JointCounts, rng: np.random.Generator) -> NDArray[np.int64]:
    actual = np.repeat(joint.actual, joint.counts)
    second = np.repeat(joint.second, joint.counts)
    for code in range(joint.n_classes):
        second[actual == code] = rng.permutation(second[actual == code])
    return second


def test_swapping_the_runs_changes_signs_only(
    joint: JointCounts, found: PairedDifferences
) -> None:
    back = paired_differences(joint.swapped())

    for key, each in found.aggregate_intervals.items():
        low, high = each.bounds.at()
        assert back.aggregate_intervals[key].bounds.at() == pytest.approx(
            (-(high or 0), -(low or 0)), abs=1e-12
        ), key
