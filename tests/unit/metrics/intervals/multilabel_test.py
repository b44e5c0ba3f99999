"""Intervals of all metrics of sets of labels: which method, which warning, when there is none."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.intervals.discrimination import auc_interval
from offdiag.metrics.intervals.multilabel import multilabel_intervals
from offdiag.metrics.intervals.proportions import wilson, wilson_of_sizes
from offdiag.metrics.multilabel.examples import example_metrics
from offdiag.metrics.multilabel.label_averages import label_averages
from offdiag.metrics.multilabel.ranking import ranking_metrics, sum_over_rankings
from offdiag.metrics.multilabel.tally import tally_sets
from offdiag.metrics.scores.ranking import rank_scores

Sets = NDArray[np.bool_]
RNG = np.random.default_rng(8)
ACTUAL: Sets = RNG.random((400, 4)) < [0.5, 0.3, 0.2, 0.4]
PREDICTED: Sets = ACTUAL ^ (RNG.random((400, 4)) < 0.15)
SCORES = RNG.random((400, 4)) + 0.5 * ACTUAL


def values_of(actual: Sets, predicted: Sets) -> dict[str, float | None]:
    tally = tally_sets(actual, predicted)
    found = {**example_metrics(tally.examples), **label_averages(tally.labels)}
    return {key: value.value for key, value in found.items()}


def test_every_aggregate_has_an_interval_that_holds_its_value() -> None:
    values = values_of(ACTUAL, PREDICTED)
    ranking = ranking_metrics(sum_over_rankings(ACTUAL, SCORES))
    values |= {key: value.value for key, value in ranking.items()}

    found = multilabel_intervals(ACTUAL, PREDICTED, SCORES).aggregate

    assert found.keys() == values.keys()
    for key, interval in found.items():
        value = values[key]
        assert interval.low is not None, key
        assert interval.high is not None, key
        assert value is not None, key
        assert interval.low < value < interval.high, key


def test_each_metric_takes_the_method_that_suits_it() -> None:
    found = multilabel_intervals(ACTUAL, PREDICTED, SCORES)

    for key in ("hamming_loss", "example_f1", "micro_f1", "label_ranking_loss"):
        assert found.aggregate[key].method == "wilson, effective size, student t"
    assert found.aggregate["subset_accuracy"].method == "wilson"
    assert found.aggregate["coverage_error"].method == "student t"


def test_exact_matches_take_the_interval_of_wilson() -> None:
    hits = (ACTUAL == PREDICTED).all(axis=1).sum()

    found = multilabel_intervals(ACTUAL, PREDICTED).aggregate["subset_accuracy"]

    assert (found.low, found.high) == wilson(hits, 400).at()


def test_rates_of_a_label_take_the_wilson_interval_of_their_own_counts() -> None:
    right = (ACTUAL & PREDICTED)[:, 1].sum()

    found = multilabel_intervals(ACTUAL, PREDICTED).per_label

    for key, cases in (("recall", ACTUAL[:, 1].sum()), ("precision", PREDICTED[:, 1].sum())):
        interval = found[key][1]
        assert (interval.low, interval.high) == wilson(right, cases).at()


def test_the_area_of_a_label_takes_the_interval_of_its_ranking() -> None:
    expected = auc_interval(rank_scores(ACTUAL[:, 2], SCORES[:, 2]))

    found = multilabel_intervals(ACTUAL, PREDICTED, SCORES).per_label["roc_auc"][2]

    assert found.low == pytest.approx(expected.low, rel=1e-12)
    assert found.high == pytest.approx(expected.high, rel=1e-12)


def test_without_scores_nothing_is_ranked() -> None:
    found = multilabel_intervals(ACTUAL, PREDICTED)

    assert "coverage_error" not in found.aggregate
    assert "roc_auc" not in found.per_label


def test_the_effective_size_is_the_one_of_the_variance() -> None:
    """Micro recall of samples with one label each is the share of samples that are right."""
    actual = np.eye(2, dtype=np.bool_)[[0, 1] * 40]
    predicted = actual.copy()
    predicted[:16] = False
    aggregate = multilabel_intervals(actual, predicted).aggregate
    found = aggregate["micro_recall"]
    narrower = 79 / 80 * (1.959963984540054 / 1.9904502102303573) ** 2

    expected = wilson_of_sizes(64 * narrower, 80 * narrower).at()

    assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)
    assert aggregate["weighted_recall"] == found
    assert aggregate["example_recall"].low == pytest.approx(found.low, rel=1e-12)


@pytest.mark.parametrize("key", ["hamming_loss", "example_jaccard", "micro_f1", "weighted_recall"])
def test_without_errors_as_many_samples_are_right_at_once(key: str) -> None:
    """Labels of a sample may all be wrong together, so each sample counts once."""
    actual = np.tile(np.eye(4, dtype=np.bool_), (100, 1))

    found = multilabel_intervals(actual, actual).aggregate[key]

    error = wilson_of_sizes(0, 400 * (1.959963984540054 / 1.9659273) ** 2).at()[1]
    ends = (0.0, error) if key == "hamming_loss" else (1 - (error or 0), 1.0)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-8)
    assert found.note is None


def test_without_errors_the_rarest_label_may_be_the_one_that_fails() -> None:
    actual = np.zeros((400, 2), np.bool_)
    actual[:, 0] = True
    actual[:20, 1] = True

    found = multilabel_intervals(actual, actual).aggregate["macro_recall"]

    of_rare, _ = wilson(20, 20).at()
    assert found.low is not None
    assert 0.9 < found.low < (1 + (of_rare or 0)) / 2


def test_a_rare_label_makes_averages_unreliable() -> None:
    actual, predicted = ACTUAL.copy(), PREDICTED.copy()
    actual[7:, 3] = False
    actual[:7, 3] = True

    found = multilabel_intervals(actual, predicted).aggregate

    assert found["macro_f1"].note == "unreliable, smallest label has n = 7"
    assert found["subset_accuracy"].note is None


@pytest.mark.parametrize(
    ("n_true", "note"),
    [
        (0, "unreliable, no example of one label"),
        (4, "unreliable, smallest label has n = 4"),
    ],
)
def test_a_label_that_is_hardly_ever_true_leaves_averages_over_labels_open(
    n_true: int, note: str
) -> None:
    actual = ACTUAL.copy()
    actual[:, 3] = False
    actual[:n_true, 3] = True

    found = multilabel_intervals(actual, PREDICTED).aggregate

    assert (found["macro_f1"].low, found["macro_f1"].high) == (None, None)
    assert found["macro_f1"].note == note
    assert found["weighted_f1"].low is not None


@pytest.mark.parametrize(("n_labels", "has_ends"), [(9, True), (10, False)])
def test_labels_with_few_samples_leave_weighted_averages_open_where_they_weigh_much(
    n_labels: int, has_ends: bool
) -> None:
    """`n_labels` labels of 4 samples each beside one of 324."""
    actual = np.zeros((400, n_labels + 1), np.bool_)
    actual[:324, 0] = True
    for label in range(1, n_labels + 1):
        actual[4 * label : 4 * label + 4, label] = True
    predicted = actual.copy()
    predicted[:20] = False

    found = multilabel_intervals(actual, predicted).aggregate

    for key in ("weighted_precision", "weighted_f1", "weighted_jaccard"):
        assert (found[key].low is not None) == has_ends, key
        note = found[key].note or ""
        assert note == (
            "unreliable, smallest label has n = 4"
            if has_ends
            else "unreliable, labels with fewer than 5 examples have 11 % of the weight"
        )
    # It does not depend on labels: it is the share of true labels that are found.
    assert found["weighted_recall"].low == pytest.approx(found["micro_recall"].low)


def test_nothing_true_leaves_weighted_averages_without_interval() -> None:
    nothing = np.zeros((30, 2), np.bool_)

    found = multilabel_intervals(nothing, PREDICTED[:30, :2]).aggregate

    assert (found["weighted_f1"].low, found["weighted_f1"].high) == (None, None)


def test_a_single_sample_has_no_interval() -> None:
    found = multilabel_intervals(ACTUAL[:1], PREDICTED[:1]).aggregate["hamming_loss"]

    assert (found.low, found.high, found.note) == (None, None, "a single example")


def test_without_cases_there_is_nothing_to_bound() -> None:
    nothing = np.zeros((0, 2), np.bool_)

    found = multilabel_intervals(nothing, nothing)

    assert found.aggregate == {}
    assert (found.per_label["recall"][0].low, found.per_label["recall"][0].high) == (None, None)


def test_another_confidence_gives_a_nested_interval() -> None:
    wide, narrow = (
        multilabel_intervals(ACTUAL, PREDICTED, SCORES, confidence=level).aggregate
        for level in (0.99, 0.8)
    )

    for key in wide:
        ends = (wide[key].low, narrow[key].low, narrow[key].high, wide[key].high)
        assert sorted(end or 0 for end in ends) == list(ends), key


def test_an_unusable_confidence_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        multilabel_intervals(ACTUAL, PREDICTED, confidence=1.5)

    assert caught.value.field == "confidence"
