"""Intervals of all metrics of sets of labels: which method, which warning, when there is none."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.intervals.discrimination import auc_interval
from offdiag.metrics.intervals.multilabel import multilabel_intervals
from offdiag.metrics.intervals.proportions import wilson
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

    found = multilabel_intervals(ACTUAL, PREDICTED, SCORES, seed=1).aggregate

    assert found.keys() == values.keys()
    for key, interval in found.items():
        value = values[key]
        assert interval.low is not None, key
        assert interval.high is not None, key
        assert value is not None, key
        assert interval.low < value < interval.high, key


def test_each_metric_takes_the_method_that_suits_it() -> None:
    found = multilabel_intervals(ACTUAL, PREDICTED, SCORES, seed=1)

    assert found.replicates == 2_000
    for key in ("hamming_loss", "example_f1", "micro_f1", "macro_recall_defined"):
        assert found.aggregate[key].method == "row bootstrap, 2000 replicates"
    assert found.aggregate["subset_accuracy"].method == "wilson"
    assert found.aggregate["coverage_error"].method == "student t"
    assert found.aggregate["label_ranking_loss"].method == "student t, log scale"


def test_exact_matches_take_the_interval_of_wilson() -> None:
    hits = (ACTUAL == PREDICTED).all(axis=1).sum()

    found = multilabel_intervals(ACTUAL, PREDICTED, seed=1).aggregate["subset_accuracy"]

    assert (found.low, found.high) == wilson(hits, 400).at()


def test_rates_of_a_label_take_the_wilson_interval_of_their_own_counts() -> None:
    right = (ACTUAL & PREDICTED)[:, 1].sum()

    found = multilabel_intervals(ACTUAL, PREDICTED, seed=1).per_label

    for key, cases in (("recall", ACTUAL[:, 1].sum()), ("precision", PREDICTED[:, 1].sum())):
        interval = found[key][1]
        assert (interval.low, interval.high) == wilson(right, cases).at()


def test_the_area_of_a_label_takes_the_interval_of_its_ranking() -> None:
    expected = auc_interval(rank_scores(ACTUAL[:, 2], SCORES[:, 2]))

    found = multilabel_intervals(ACTUAL, PREDICTED, SCORES, seed=1).per_label["roc_auc"][2]

    assert found.low == pytest.approx(expected.low, rel=1e-12)
    assert found.high == pytest.approx(expected.high, rel=1e-12)


def test_without_scores_nothing_is_ranked() -> None:
    found = multilabel_intervals(ACTUAL, PREDICTED, seed=1)

    assert "coverage_error" not in found.aggregate
    assert "roc_auc" not in found.per_label


def test_the_same_seed_repeats_every_end_bit_for_bit() -> None:
    first, again, other = (
        multilabel_intervals(ACTUAL, PREDICTED, seed=seed) for seed in (1, 1, 2)
    )

    assert first == again
    assert first.aggregate["micro_f1"] != other.aggregate["micro_f1"]


def test_a_rare_label_makes_averages_unreliable() -> None:
    actual, predicted = ACTUAL.copy(), PREDICTED.copy()
    actual[7:, 3] = False
    actual[:7, 3] = True

    found = multilabel_intervals(actual, predicted, seed=1).aggregate

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

    found = multilabel_intervals(actual, PREDICTED, seed=1).aggregate

    assert (found["macro_f1"].low, found["macro_f1"].high) == (None, None)
    assert found["macro_f1"].note == note
    assert found["weighted_f1"].low is not None


def test_nothing_true_leaves_weighted_averages_without_interval() -> None:
    nothing = np.zeros((30, 2), np.bool_)

    found = multilabel_intervals(nothing, PREDICTED[:30, :2], seed=1).aggregate

    assert (found["weighted_f1"].low, found["weighted_f1"].high) == (None, None)
    assert found["weighted_f1"].undefined_share == 1.0


def test_resamples_without_any_prediction_are_reported_as_undefined() -> None:
    predicted = np.zeros((20, 4), np.bool_)
    predicted[0, 0] = True

    found = multilabel_intervals(ACTUAL[:20], predicted, seed=1).aggregate["micro_precision"]

    assert found.undefined_share == pytest.approx(0.95**20, abs=0.04)


def test_without_cases_there_is_nothing_to_bound() -> None:
    nothing = np.zeros((0, 2), np.bool_)

    found = multilabel_intervals(nothing, nothing, seed=1)

    assert found.aggregate == {}
    assert (found.per_label["recall"][0].low, found.per_label["recall"][0].high) == (None, None)


def test_another_confidence_gives_a_nested_interval() -> None:
    wide, narrow = (
        multilabel_intervals(ACTUAL, PREDICTED, SCORES, seed=1, confidence=level).aggregate
        for level in (0.99, 0.8)
    )

    for key in wide:
        ends = (wide[key].low, narrow[key].low, narrow[key].high, wide[key].high)
        assert sorted(end or 0 for end in ends) == list(ends), key


@pytest.mark.parametrize(
    ("confidence", "replicates", "field"), [(1.5, 2_000, "confidence"), (0.95, 0, "replicates")]
)
def test_unusable_settings_are_refused(confidence: float, replicates: int, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        multilabel_intervals(
            ACTUAL, PREDICTED, seed=1, confidence=confidence, replicates=replicates
        )

    assert caught.value.field == field
