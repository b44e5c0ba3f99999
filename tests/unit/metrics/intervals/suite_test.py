"""Intervals of the whole suite: which method, which warning, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from offdiag.errors import InvalidInput
from offdiag.metrics.intervals import posterior
from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.intervals.suite import NOISY, SuiteIntervals, suite_intervals
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, evaluate_stack
from support.matrices import compute_only, matrix_of
from support.optional import present

OF_MORE_CLASSES = "posterior draws with prior 1/K, 2000 draws"
POSTERIOR = "posterior draws with Jeffreys' prior, 2000 draws"
BALANCED = [[40, 6, 4], [5, 38, 7], [2, 8, 40]]
UNBALANCED = [[72, 6, 2], [8, 6, 1], [2, 1, 2]]


def spread_matrix(n_classes: int, n_samples: int) -> NDArray[np.int64]:
    """A matrix of mostly correct predictions in which every cell is occupied."""
    errors = np.full((n_classes, n_classes), max(1, n_samples // n_classes**2 // 10))
    return errors + np.eye(n_classes, dtype=np.int64) * (n_samples // n_classes)


@pytest.fixture
def intervals() -> SuiteIntervals:
    return suite_intervals(matrix_of(BALANCED, ordinal=True), seed=5)


def test_every_key_has_an_interval_or_a_reason_to_have_none(intervals: SuiteIntervals) -> None:
    without = set(AGGREGATE_KEYS) - set(intervals.aggregate)
    without_by_class = set(PER_CLASS_KEYS) - set(intervals.per_class)

    assert without == {
        "n",
        "n_classes",
        "n_classes_actual",
        "n_classes_predicted",
        "majority_baseline",
        "nir_p_value",
    }
    assert without_by_class == {
        *("tp", "fn", "fp", "tn", "support", "predicted", "imbalance_coefficient")
    }


def test_each_interval_holds_its_value(intervals: SuiteIntervals) -> None:
    found = evaluate_stack(np.array(BALANCED), ordinal=True)

    for key, each in intervals.aggregate.items():
        if key in NOISY:
            continue
        low, high = each.bounds.at()
        value = present(found.aggregate[key].at().value)
        assert present(low) < value < present(high), key
    for key, each in intervals.per_class.items():
        values = found.per_class[key].value
        assert ((each.bounds.low < values) & (values < each.bounds.high)).all(), key


def test_proportions_take_the_wilson_interval_of_their_own_counts(
    intervals: SuiteIntervals,
) -> None:
    expected = {
        "recall": (38, 50),
        "fnr": (12, 50),
        "precision": (38, 52),
        "fdr": (14, 52),
        "specificity": (86, 100),
        "fpr": (14, 100),
        "npv": (86, 98),
        "for": (12, 98),
        "prevalence": (50, 150),
        "predicted_rate": (52, 150),
        "accuracy_ovr": (124, 150),
        "jaccard": (38, 64),
    }

    for key, (hits, cases) in expected.items():
        interval = intervals.per_class[key].at(1)
        assert (interval.low, interval.high) == wilson(hits, cases).at(), key
        assert interval.method == "wilson"


def test_the_interval_of_f1_is_that_of_jaccard_transformed(intervals: SuiteIntervals) -> None:
    jaccard, f1 = intervals.per_class["jaccard"].at(1), intervals.per_class["f1"].at(1)

    assert jaccard.low is not None
    assert jaccard.high is not None
    assert f1.low == pytest.approx(2 * jaccard.low / (1 + jaccard.low))
    assert f1.high == pytest.approx(2 * jaccard.high / (1 + jaccard.high))
    assert f1.method == "wilson, transformed"


@pytest.mark.parametrize(
    ("key", "low", "high"),
    [
        ("overall_accuracy", 118, 118),
        ("micro_f1", 118, 118),
        ("weighted_recall", 118, 118),
        ("error_rate", 32, 32),
    ],
)
def test_accuracy_by_any_name_takes_the_wilson_interval(
    intervals: SuiteIntervals, key: str, low: int, high: int
) -> None:
    ends = wilson([low, high], 150)

    assert intervals.aggregate[key].bounds.at() == (ends.low[0], ends.high[1])


def test_average_accuracy_and_its_complement_mirror_each_other(intervals: SuiteIntervals) -> None:
    low, high = intervals.aggregate["average_accuracy"].bounds.at()
    error_low, error_high = intervals.aggregate["average_error_rate"].bounds.at()
    accuracy_low, _ = intervals.aggregate["overall_accuracy"].bounds.at()

    assert None not in (low, high, error_low, error_high, accuracy_low)
    assert low == pytest.approx(1 - 2 / 3 + 2 / 3 * (accuracy_low or 0))
    assert (low or 0) + (error_high or 0) == pytest.approx(1)
    assert (high or 0) + (error_low or 0) == pytest.approx(1)


def test_everything_else_is_drawn_and_says_so(intervals: SuiteIntervals) -> None:
    assert intervals.replicates == 2_000
    assert intervals.seed == 5
    for key in ("macro_precision", "scott_pi", "kappa_quadratic"):
        assert intervals.aggregate[key].method == OF_MORE_CLASSES
    for key in ("f2", "informedness", "dor"):
        assert intervals.per_class[key].method == POSTERIOR


def test_with_two_classes_nothing_is_resampled() -> None:
    found = suite_intervals(matrix_of([[90, 10], [2, 8]], ordinal=True), seed=5)

    methods = {each.method for each in (*found.aggregate.values(), *found.per_class.values())}
    assert methods == {
        *("wilson", "wilson, transformed", "wilson ends combined (MOVER)"),
        POSTERIOR,
    }
    # One metric by two names.
    assert found.aggregate["mcc"].bounds.at() == pytest.approx(
        found.per_class["mcc_ovr"].bounds.at(1)
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_errors_in_a_small_class_metrics_of_a_class_may_still_be_lower(
    n_classes: int,
) -> None:
    """Ten of ten right: Wilson's interval of the recall begins at .72."""
    counts = np.zeros((n_classes, n_classes), np.int64)
    counts[0, 0] = 10
    counts[1:, 1:] = np.diag(np.full(n_classes - 1, 45))

    found = suite_intervals(matrix_of(counts), seed=1).per_class

    for key in ("balanced_accuracy_ovr", "gmean", "f2"):
        low, high = found[key].bounds.at(0)
        assert 0.75 < present(low) < 0.95, key
        assert high == 1.0, key


def test_intervals_of_metrics_of_a_class_hold_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten of 100 samples are of the class; resamples held dor in 60 and informedness in 70 %."""
    keys = ("informedness", "markedness", "gmean", "mcc_ovr", "lr_plus", "dor", "f2")
    truth = evaluate_stack(np.array([[81_000, 9_000], [1_000, 9_000]]), ordinal=False).per_class
    rng = np.random.default_rng(3)
    held: dict[str, list[bool]] = {key: [] for key in keys}
    compute_only(held, monkeypatch)
    while len(held["dor"]) < 100:
        positives = rng.binomial(100, 0.1)
        right, rejected = rng.binomial(positives, 0.9), rng.binomial(100 - positives, 0.9)
        if positives < 5:
            continue
        counts = [[rejected, 100 - positives - rejected], [positives - right, right]]
        found = suite_intervals(matrix_of(counts), seed=1, replicates=200).per_class
        for key in keys:
            low, high = found[key].bounds.low[1], found[key].bounds.high[1]
            held[key].append(bool(low <= truth[key].at(1).value <= high))

    for key, each in held.items():
        assert np.mean(each) >= 0.89, key


def test_the_interval_of_the_geometric_mean_of_many_recalls_holds_the_truth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twenty classes of 24 samples of which each is found in 30 %; plain resamples held 62 %."""
    compute_only(["gmean_multiclass"], monkeypatch)
    rng = np.random.default_rng(5)
    held = []
    for _ in range(40):
        right = rng.binomial(24, 0.3, size=20)
        if not right.all():
            continue
        counts = np.diag(right)
        for code in range(20):
            counts[code, (code + 1) % 20] = 24 - right[code]
        found = suite_intervals(matrix_of(counts), seed=1, replicates=100)
        low, high = found.aggregate["gmean_multiclass"].bounds.at()
        held.append(low is not None and high is not None and low <= 0.3 <= high)

    assert np.mean(held) >= 0.89


def test_the_same_seed_repeats_every_end_bit_for_bit() -> None:
    matrix = matrix_of(UNBALANCED)

    first, again, other = (suite_intervals(matrix, seed=seed) for seed in (1, 1, 2))

    for key, each in first.aggregate.items():
        assert np.array_equal(
            [each.bounds.low, each.bounds.high],
            [again.aggregate[key].bounds.low, again.aggregate[key].bounds.high],
            equal_nan=True,
        )
    assert first.aggregate["mcc"].bounds.at() != other.aggregate["mcc"].bounds.at()


def test_a_small_class_makes_means_over_classes_unreliable() -> None:
    found = suite_intervals(matrix_of(UNBALANCED), seed=1)

    for key in ("macro_f1", "weighted_f1"):
        assert found.aggregate[key].at().note == "unreliable, smallest class has n = 5"
    assert found.aggregate["overall_accuracy"].at().note is None
    assert found.per_class["f2"].at(0).note is None
    assert found.per_class["f2"].at(2).note == "unreliable, class has n = 5"
    assert found.per_class["recall"].at(2).note is None


@pytest.mark.parametrize(
    ("key", "has_ends", "note"),
    [
        ("balanced_accuracy", False, "unreliable, no example of '2'"),
        ("macro_precision", False, "unreliable, no example of '2'"),
        ("gmean_multiclass", False, "unreliable, no example of '2'"),
        ("macro_f1_harmonic", False, "unreliable, no example of '2'"),
        ("mcc", True, "unreliable, no example of '2'"),
        ("cohen_kappa", True, "unreliable, no example of '2'"),
        ("weighted_f1", True, None),
        ("mutual_information", False, "noise adds to it"),
    ],
)
def test_a_declared_class_without_cases_leaves_averages_over_classes_open(
    key: str, has_ends: bool, note: str | None
) -> None:
    found = suite_intervals(matrix_of([[30, 5, 0], [4, 40, 1], [0, 0, 0]]), seed=1)

    interval = found.aggregate[key].at()
    assert (interval.low is not None, interval.high is not None) == (has_ends, has_ends)
    assert interval.note == note


def test_two_declared_classes_without_cases_are_counted() -> None:
    counts = np.zeros((4, 4), np.int64)
    counts[:2, :2] = [[8, 2], [3, 30]]

    note = suite_intervals(matrix_of(counts), seed=1).aggregate["macro_f1"].at().note

    assert note == "unreliable, no example of '2' and 1 more, smallest class has n = 10"


@pytest.mark.parametrize("counts", [[[95, 3], [1, 3]], [[40, 6, 4], [5, 38, 7], [1, 0, 3]]])
def test_below_five_cases_of_a_class_its_metrics_have_no_ends(counts: list[list[int]]) -> None:
    found = suite_intervals(matrix_of(counts), seed=1)

    for key in ("balanced_accuracy", "macro_f1", "macro_jaccard"):
        interval = found.aggregate[key].at()
        assert (interval.low, interval.high) == (None, None), key
        assert interval.note == "unreliable, smallest class has n = 4", key
    for key in ("scott_pi", "weighted_f1"):
        assert found.aggregate[key].at().low is not None, key


@pytest.mark.parametrize(
    ("counts", "has_ends", "note"),
    [
        ([[95, 3], [1, 3]], False, "unreliable, n = 4 outside the largest class"),
        ([[95, 3], [1, 4]], True, "unreliable, n = 5 outside the largest class"),
        ([[90, 2, 1], [1, 2, 0], [0, 1, 0]], False, "unreliable, n = 4 outside the largest class"),
        ([[90, 2, 1], [1, 2, 0], [0, 1, 1]], True, "unreliable, n = 5 outside the largest class"),
        ([[40, 6, 4], [5, 15, 0], [0, 0, 0]], True, "unreliable, no example of '2'"),
        ([[40, 6, 4], [5, 38, 7], [1, 0, 0]], True, None),
    ],
)
def test_examples_outside_the_largest_class_decide_whether_agreement_has_ends(
    counts: list[list[int]], has_ends: bool, note: str | None
) -> None:
    found = suite_intervals(matrix_of(counts), seed=1)

    for key in ("mcc", "cohen_kappa"):
        interval = found.aggregate[key].at()
        assert (interval.low is not None) == has_ends, key
        assert interval.note == note, key


def test_an_undefined_metric_has_no_interval() -> None:
    found = suite_intervals(matrix_of([[30, 0], [20, 0]]), seed=1)

    for interval in (
        found.aggregate["mcc"].at(),
        found.per_class["precision"].at(1),
    ):
        assert (interval.low, interval.high) == (None, None)


def test_one_class_leaves_nothing_open() -> None:
    found = suite_intervals(matrix_of([[30]]), seed=1)

    assert found.aggregate["weighted_f1"].bounds.at() == (None, None)
    assert found.per_class["f2"].bounds.at(0) == (None, None)
    assert found.aggregate["overall_accuracy"].bounds.at() == pytest.approx((0.8865, 1), abs=1e-4)


def test_intervals_of_aggregates_of_few_samples_hold_the_truth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Thirty samples of three classes; resamples held quadratic kappa in 76 of 100 data sets."""
    keys = ("kappa_quadratic", "weighted_precision", "weighted_jaccard", "gwet_ac1", "macro_f1")
    shares = (np.full((3, 3), 0.05) + np.eye(3) * 0.85) / 3
    truth = evaluate_stack(np.rint(shares * 6_000).astype(np.int64), ordinal=True).aggregate
    rng = np.random.default_rng(4)
    held: dict[str, list[bool]] = {key: [] for key in keys}
    compute_only(held, monkeypatch)
    while len(held["macro_f1"]) < 100:
        counts = rng.multinomial(30, shares.ravel()).reshape(3, 3)
        if (counts.sum(axis=1) < 5).any():
            continue
        found = suite_intervals(matrix_of(counts, ordinal=True), seed=1, replicates=200).aggregate
        for key in keys:
            low, high = found[key].bounds.low, found[key].bounds.high
            held[key].append(bool(low <= truth[key].value <= high))

    for key, each in held.items():
        assert np.mean(each) >= 0.89, key


def test_a_ratio_that_is_infinite_has_a_lower_end_only() -> None:
    found = suite_intervals(matrix_of([[200, 0], [30, 70]]), seed=1)

    ratio = found.per_class["lr_plus"].at(1)

    assert present(ratio.low) > 30
    assert ratio.high is None
    assert ratio.note == "no upper end"


def test_a_matrix_without_cases_has_no_ends() -> None:
    found = suite_intervals(matrix_of(np.zeros((2, 2))), seed=1)

    assert found.aggregate["overall_accuracy"].bounds.at() == (None, None)
    assert found.per_class["recall"].bounds.at(0) == (None, None)
    assert found.replicates == 0


def test_with_too_many_cells_only_what_depends_on_single_ones_takes_the_delta_method() -> None:
    found = suite_intervals(matrix_of(spread_matrix(51, 100_000), ordinal=True), seed=1)

    assert found.aggregate["kappa_quadratic"].method == "delta"
    assert found.aggregate["macro_f1"].method == "posterior draws with prior 1/K, 1782 draws"
    assert found.per_class["dor"].method == "posterior draws with Jeffreys' prior, 1782 draws"
    assert found.per_class["recall"].method == "wilson"


def test_margins_of_drawn_matrices_are_those_of_their_cells() -> None:
    counts = np.array([[8, 1, 0, 3], [0, 5, 0, 0], [0, 0, 0, 0], [2, 0, 1, 9]])
    evidence = posterior.Evidence.of_counts(matrix_of(counts))

    for _, drawn in posterior.drawn_cells(evidence, seed=1, draws=50, n_cells=1):
        cells = drawn.matrices(1e9)
        actual, predicted, correct = drawn.margins(1e9)

        assert np.abs(actual - cells.sum(axis=2)).max() <= 4
        assert np.abs(predicted - cells.sum(axis=1)).max() <= 12
        assert (correct == np.diagonal(cells, axis1=1, axis2=2)).all()
        assert (predicted.sum(axis=1) == actual.sum(axis=1)).all()


def test_intervals_of_hundreds_of_classes_hold_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    n_classes, rng = 250, np.random.default_rng(4)
    recalls = rng.beta(9, 1, n_classes)
    missed = rng.dirichlet(np.full(n_classes, 0.05), n_classes)
    np.fill_diagonal(missed, 0)
    shares = missed / missed.sum(axis=1, keepdims=True) * (1 - recalls)[:, np.newaxis]
    np.fill_diagonal(shares, recalls)
    shares /= n_classes
    truth = evaluate_stack(np.rint(shares * 2**40).astype(np.int64), ordinal=False, unit=2**28)
    keys = ("weighted_precision", "informedness_multiclass", "macro_f1", "weighted_jaccard")
    held = dict.fromkeys((*keys, "markedness", "lr_plus"), 0.0)

    compute_only(held, monkeypatch)
    for seed in range(20):
        counts = np.random.default_rng(seed).multinomial(4_000, shares.ravel())
        found = suite_intervals(matrix_of(counts.reshape(shares.shape)), seed=seed, replicates=400)
        for key in keys:
            low, high = found.aggregate[key].bounds.at()
            value = float(truth.aggregate[key].value)
            held[key] += low is not None and high is not None and low <= value <= high
        for key in held.keys() - keys:
            bounds, values = found.per_class[key].bounds, truth.per_class[key].value
            held[key] += float(((bounds.low <= values) & (values <= bounds.high)).mean())

    assert all(count >= 17 for count in held.values()), held


def test_the_delta_method_agrees_with_the_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = matrix_of(np.array(BALANCED) * 200, ordinal=True)
    drawn = suite_intervals(matrix, seed=1, replicates=20_000)
    monkeypatch.setattr(posterior, "MOST_CELLS", 0)

    linear = suite_intervals(matrix, seed=1)

    for key, each in linear.aggregate.items():
        low, high = each.bounds.at()
        expected_low, expected_high = drawn.aggregate[key].bounds.at()
        if key in NOISY:
            continue
        assert None not in (low, high, expected_low, expected_high)
        width = (expected_high or 0) - (expected_low or 0)
        assert low == pytest.approx(expected_low, abs=0.06 * width), key
        assert high == pytest.approx(expected_high, abs=0.06 * width), key
    for key, each in linear.per_class.items():
        expected = drawn.per_class[key].bounds
        widths = expected.high - expected.low
        assert (np.abs(each.bounds.low - expected.low) < 0.06 * widths).all(), key
        assert (np.abs(each.bounds.high - expected.high) < 0.06 * widths).all(), key


def test_another_confidence_gives_a_nested_interval() -> None:
    matrix = matrix_of(BALANCED)

    wide, narrow = (
        suite_intervals(matrix, seed=1, confidence=level).aggregate["mcc"].bounds
        for level in (0.99, 0.8)
    )

    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(
    ("confidence", "replicates", "field"), [(1.5, 2_000, "confidence"), (0.95, 0, "replicates")]
)
def test_unusable_settings_are_refused(confidence: float, replicates: int, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        suite_intervals(matrix_of(BALANCED), seed=1, confidence=confidence, replicates=replicates)

    assert caught.value.field == field


def test_balanced_accuracy_of_two_classes_combines_the_wilson_ends_of_both_recalls() -> None:
    z = norm.ppf(0.975)

    def wilson_ends(x: int, n: int) -> tuple[float, float]:
        centre = (x + z * z / 2) / (n + z * z)
        reach = z / (n + z * z) * np.sqrt(x * (n - x) / n + z * z / 4)
        return centre - reach, centre + reach

    (l1, u1), (l2, u2) = wilson_ends(30, 34), wilson_ends(9, 11)
    p1, p2 = 30 / 34, 9 / 11
    mean = (p1 + p2) / 2
    low = mean - np.hypot(p1 - l1, p2 - l2) / 2
    high = mean + np.hypot(u1 - p1, u2 - p2) / 2

    found = suite_intervals(matrix_of([[30, 4], [2, 9]]), seed=1).aggregate

    for key in ("balanced_accuracy", "macro_recall", "macro_recall_strict"):
        assert found[key].bounds.at() == pytest.approx((low, high), rel=1e-12), key
        assert found[key].method == "wilson ends combined (MOVER)"
    adjusted = found["balanced_accuracy_adjusted"].bounds.at()
    assert adjusted == pytest.approx((2 * low - 1, 2 * high - 1), rel=1e-12)


def test_an_interval_whose_bias_is_taken_off_may_reach_below_zero() -> None:
    by_chance = matrix_of([[30, 31, 29], [33, 28, 30], [29, 30, 31]])

    found = suite_intervals(by_chance, seed=1, replicates=500).aggregate

    for key in ("informedness_multiclass", "markedness_multiclass"):
        low, high = found[key].bounds.at()
        assert present(low) < -0.05 < 0.05 < present(high)
