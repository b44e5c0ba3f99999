"""Intervals of all metrics of scores: which method, which warning, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.intervals.discrimination import auc_interval
from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.intervals.scores import class_score_intervals, score_intervals
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.ranked import rank_scores
from offdiag.metrics.scores.suite import class_metrics, score_metrics
from support.forecasts import of_classes, of_event

BOOTSTRAP = "row bootstrap, reflected, 2000 replicates"
RNG = np.random.default_rng(11)
P = RNG.beta(1, 2, 400)
EVENT = Forecasts((RNG.random(400) < P).astype(np.uint8), P.reshape(-1, 1), 2, positive=1)
TABLE = RNG.dirichlet([0.5, 0.5, 0.5], size=300)
CLASSES = Forecasts(
    np.array([RNG.choice(3, p=row) for row in TABLE], dtype=np.uint8), TABLE, n_classes=3
)
# The same cases, forecast in steps of one tenth: many share a forecast.
COARSE = Forecasts(EVENT.actual, np.round(EVENT.scores, 1).clip(0.1, 0.9), 2, positive=1)
NOTHING_SHARED = {"brier_uncertainty", "brier_resolution"}


@pytest.mark.parametrize("forecasts", [EVENT, CLASSES, COARSE], ids=["event", "classes", "coarse"])
def test_every_metric_has_an_interval_or_a_reason_to_have_none(forecasts: Forecasts) -> None:
    values = score_metrics(forecasts)

    found = score_intervals(forecasts, seed=1)

    without = {"brier_uncertainty"} if forecasts is COARSE else NOTHING_SHARED
    assert found.keys() == values.keys() - without
    for key, interval in found.items():
        if key.startswith(("ece", "mce")):
            assert (interval.low, interval.high) == (None, None), key
            assert (interval.note or "").startswith("a calibrated model would show about"), key
            continue
        assert interval.low is not None, key
        assert interval.high is not None, key
        assert interval.low < interval.high, key


@pytest.mark.parametrize("forecasts", [EVENT, CLASSES], ids=["event", "classes"])
def test_intervals_that_are_not_reflected_hold_their_value(forecasts: Forecasts) -> None:
    values = score_metrics(forecasts)

    for key, interval in score_intervals(forecasts, seed=1).items():
        if "reflected" not in interval.method and "consistency" not in interval.method:
            value = values[key].value
            assert interval.low is not None
            assert interval.high is not None
            assert value is not None
            assert interval.low < value < interval.high, key


def test_each_metric_takes_the_method_that_suits_it() -> None:
    methods = {
        key: each.method
        for forecasts in (COARSE, CLASSES)
        for key, each in score_intervals(forecasts, seed=1).items()
    }

    assert methods["roc_auc"] == "newcombe method 5"
    assert methods["roc_auc_ovo_macro"] == "delong, averaged, logit scale"
    assert methods["average_precision"] == "delta, logit scale, student t"
    assert methods["log_loss"] == methods["brier_half"] == "student t, log scale"
    assert methods["top_2_accuracy"] == "wilson"
    assert methods["ks"] == "two-sample kolmogorov-smirnov bound"
    for key in ("ece_positive_15", "mce_positive_15", "ece_top_label_equal_mass_15"):
        assert methods[key] == "consistency resampling, 999 draws"
    assert methods["brier_resolution"] == BOOTSTRAP


def test_the_area_takes_the_interval_of_its_ranking() -> None:
    expected = auc_interval(rank_scores(EVENT.actual == 1, EVENT.scores[:, 0]))

    assert score_intervals(EVENT, seed=1)["roc_auc"] == expected


def test_top_k_accuracy_takes_the_interval_of_wilson() -> None:
    hits = (TABLE.argmax(axis=1) == CLASSES.actual).sum()

    found = score_intervals(CLASSES, seed=1)["top_1_accuracy"]

    assert (found.low, found.high) == wilson(hits, 300).at()


def test_intervals_by_class_stand_in_label_order() -> None:
    values = class_metrics(CLASSES)

    found = class_score_intervals(CLASSES)

    assert found.keys() == values.keys()
    for key, intervals in found.items():
        for interval, value in zip(intervals, values[key], strict=True):
            assert interval.low is not None
            assert interval.high is not None
            assert value.value is not None
            assert interval.low < value.value < interval.high


def test_the_same_seed_repeats_every_end_bit_for_bit() -> None:
    first, again, other = (score_intervals(EVENT, seed=seed) for seed in (4, 4, 5))

    assert first == again
    assert first["ece_positive_15"] != other["ece_positive_15"]
    assert first["roc_auc"] == other["roc_auc"]


def test_another_confidence_gives_a_nested_interval() -> None:
    wide, narrow = (score_intervals(CLASSES, seed=1, confidence=c) for c in (0.99, 0.8))

    for key in wide.keys() - {"ece_top_label_15", "ece_top_label_equal_mass_15"}:
        ends = (wide[key].low, narrow[key].low, narrow[key].high, wide[key].high)
        assert None not in ends
        assert sorted(end or 0 for end in ends) == list(ends), key


def test_few_cases_are_called_unreliable() -> None:
    found = score_intervals(of_event([0, 1] * 5, np.linspace(0.1, 0.9, 10).tolist()), seed=1)

    for key in ("roc_auc", "ks"):
        assert "unreliable, smaller class has n = 5" in (found[key].note or ""), key
    assert "unreliable, smallest class has n = 5" in (found["log_loss"].note or "")
    for key in ("brier_half", "brier_reliability"):
        assert "unreliable, n = 10" in (found[key].note or ""), key
    assert found["top_1_accuracy"].note is None


def test_scores_that_are_no_probabilities_have_intervals_of_their_order_only() -> None:
    found = score_intervals(of_event([0, 1, 1, 0, 1], [-3.0, 2.0, 8.0, 3.0, 4.0]), seed=1)

    assert found.keys() == {"roc_auc", "average_precision", "ks"}


def test_one_sided_truth_leaves_nothing_to_rank() -> None:
    found = score_intervals(of_event([1, 1, 1], [0.2, 0.9, 0.5]), seed=1)

    for key in ("roc_auc", "average_precision", "ks"):
        assert (found[key].low, found[key].high) == (None, None)
    assert found["log_loss"].low is not None


@pytest.mark.parametrize(
    "forecasts",
    [of_event([1], [0.75]), of_classes([0, 0], [[1.0], [1.0]])],
    ids=["one case", "one class"],
)
def test_the_smallest_data_give_no_ends_but_no_error(forecasts: Forecasts) -> None:
    found = score_intervals(forecasts, seed=1)

    assert found.keys() <= score_metrics(forecasts).keys()
    assert {each.low for key, each in found.items() if "top" not in key} == {None}


@pytest.mark.parametrize(
    ("confidence", "replicates", "field"), [(1.5, 2_000, "confidence"), (0.95, 0, "replicates")]
)
def test_unusable_settings_are_refused(confidence: float, replicates: int, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        score_intervals(EVENT, seed=1, confidence=confidence, replicates=replicates)

    assert caught.value.field == field
