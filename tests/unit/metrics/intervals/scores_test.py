"""Calibration errors beside those of a perfectly calibrated model."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.intervals import calibration
from offdiag.metrics.intervals.calibration import CalibrationReference, calibration_references
from offdiag.metrics.intervals.discrimination import auc_interval
from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.intervals.scores import class_score_intervals, score_intervals
from offdiag.metrics.scores.calibration import (
    equal_mass_bins,
    equal_width_bins,
    expected_calibration_error,
    maximum_calibration_error,
)
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.ranking import rank_scores
from offdiag.metrics.scores.suite import class_metrics, score_metrics
from support.forecasts import of_classes, of_event, ranked_apart
from support.optional import present

KINDS = ("ece", "mce", "ece_equal_mass")


def errors_of(is_event: NDArray[np.bool_], p: NDArray[np.float64]) -> tuple[float, float, float]:
    ranked = rank_scores(is_event, p)
    by_width = equal_width_bins(ranked)
    return (
        expected_calibration_error(by_width),
        maximum_calibration_error(by_width),
        expected_calibration_error(equal_mass_bins(ranked)),
    )


def test_the_figures_are_those_of_all_outcomes_that_the_scores_allow() -> None:
    p = np.array([0.1, 0.12, 0.3, 0.35, 0.5, 0.5, 0.62, 0.8, 0.81, 0.95])
    outcomes = np.array(list(product([False, True], repeat=len(p))))
    chance = np.where(outcomes, p, 1 - p).prod(axis=1)
    errors = np.array([errors_of(outcome, p) for outcome in outcomes])
    is_event = np.array([1, 0, 0, 1, 0, 1, 0, 0, 1, 1], bool)
    values = errors_of(is_event, p)

    found = calibration_references(rank_scores(is_event, p), seed=3)

    for place, kind in enumerate(KINDS):
        column, reference = errors[:, place], found[kind]
        assert reference.value == pytest.approx(values[place], abs=1e-12)
        mean = chance @ column
        spread = np.sqrt(chance @ (column - mean) ** 2)
        assert reference.mean == pytest.approx(mean, abs=4 * spread / 999**0.5)
        assert reference.excess == reference.value - reference.mean
        as_large = chance[column >= values[place] - 1e-9].sum()
        assert reference.p == pytest.approx(as_large, abs=4 * 0.5 / 999**0.5)
        # At most 5 % of outcomes lie above the quantile, give or take the draws.
        assert chance[column > reference.upper + 1e-9].sum() <= 0.05 + 4 * 0.007
        assert chance[column >= reference.upper - 1e-9].sum() >= 0.05 - 4 * 0.007


def test_more_scores_than_cells_give_the_same_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    p = rng.beta(0.5, 3, 3_000)
    ranked = rank_scores(rng.random(3_000) < p, p)

    exact = calibration_references(ranked, seed=1)
    monkeypatch.setattr(calibration, "MOST_CELLS", 200)
    monkeypatch.setattr(calibration, "MERGED_CELLS", 200)
    merged = calibration_references(ranked, seed=1)

    for kind in KINDS:
        assert merged[kind].value == exact[kind].value
        assert merged[kind].mean == pytest.approx(exact[kind].mean, rel=0.05)
        assert merged[kind].upper == pytest.approx(exact[kind].upper, rel=0.08)
        assert merged[kind].p == pytest.approx(exact[kind].p, abs=0.07)


def test_p_counts_draws_as_large_as_the_value() -> None:
    # Every outcome of one score of one half has the same error.
    one_score = ranked_apart(np.full(1, 0.5), np.zeros(0))

    found = calibration_references(one_score, seed=1)["ece"]

    assert (found.value, found.mean, found.upper, found.p) == (0.5, 0.5, 0.5, 1.0)


def test_certain_scores_that_are_wrong_have_the_smallest_p() -> None:
    wrong = ranked_apart(np.zeros(3), np.ones(4))

    found = calibration_references(wrong, seed=1)["ece"]

    assert (found.value, found.mean, found.p) == (1.0, 0.0, 0.001)


@pytest.mark.parametrize(
    ("p", "finding"),
    [
        (0.051, "no evidence of miscalibration (p = 0.051)"),
        (0.05, "above what chance explains (p = 0.050), excess 0.040"),
    ],
)
def test_the_sentence_says_whether_chance_explains_the_error(p: float, finding: str) -> None:
    interval = CalibrationReference(0.09, 0.05, 0.08, p, 1_200).as_interval()

    assert (interval.low, interval.high) == (None, None)
    assert interval.provenance == (
        "consistency resampling, 999 draws; a calibrated model would show about 0.050 "
        f"(up to 0.080) on these 1,200 examples: {finding}"
    )
    assert "on this example: " in CalibrationReference(0.8, 0.3, 0.8, p, 1).sentence


def test_the_same_seed_repeats_every_figure() -> None:
    rng = np.random.default_rng(5)
    p = rng.random(300)
    ranked = rank_scores(rng.random(300) < p, p)

    first, again, other = (calibration_references(ranked, seed=seed) for seed in (1, 1, 2))

    assert first == again
    assert first != other


RNG = np.random.default_rng(11)
P = RNG.beta(1, 2, 400)
EVENT = Forecasts((RNG.random(400) < P).astype(np.uint8), P.reshape(-1, 1), 2, positive=1)
TABLE = RNG.dirichlet([0.5, 0.5, 0.5], size=300)
CLASSES = Forecasts(
    np.array([RNG.choice(3, p=row) for row in TABLE], dtype=np.uint8), TABLE, n_classes=3
)
# The same samples, forecast in steps of one tenth: many share a forecast.
COARSE = Forecasts(EVENT.actual, np.round(EVENT.scores, 1).clip(0.1, 0.9), 2, positive=1)
WITHOUT = {"brier_uncertainty", "brier_miscalibration", "brier_discrimination"}
PARTS = ("brier_reliability", "brier_resolution")


@pytest.mark.parametrize("forecasts", [EVENT, CLASSES, COARSE], ids=["event", "classes", "coarse"])
def test_every_metric_has_an_interval_or_a_reason_to_have_none(forecasts: Forecasts) -> None:
    values = score_metrics(forecasts)

    found = score_intervals(forecasts, seed=1)

    assert found.keys() == values.keys() - WITHOUT
    for key, interval in found.items():
        if key.startswith(("ece", "mce")):
            assert (interval.low, interval.high) == (None, None), key
            assert (interval.note or "").startswith("a calibrated model would show about"), key
            continue
        if key in PARTS and forecasts is not COARSE:
            assert (interval.low, interval.high) == (None, None), key
            assert (interval.note or "").startswith("noise cannot be separated"), key
            continue
        assert interval.low is not None, key
        assert interval.high is not None, key
        assert interval.low < interval.high, key


@pytest.mark.parametrize("forecasts", [EVENT, CLASSES], ids=["event", "classes"])
def test_intervals_hold_their_value(forecasts: Forecasts) -> None:
    values = score_metrics(forecasts)

    for key, interval in score_intervals(forecasts, seed=1).items():
        if key not in PARTS and "consistency" not in interval.method:
            value = values[key].value
            assert present(interval.low) < present(value) < present(interval.high), key


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
    assert methods["brier_resolution"] == "moments less noise"


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
            assert present(interval.low) < present(value.value) < present(interval.high)


def test_the_same_seed_repeats_every_end_bit_for_bit() -> None:
    first, again, other = (score_intervals(EVENT, seed=seed) for seed in (4, 4, 5))

    assert first == again
    assert first["ece_positive_15"] != other["ece_positive_15"]
    assert first["roc_auc"] == other["roc_auc"]


def test_another_confidence_gives_a_nested_interval() -> None:
    wide, narrow = (score_intervals(CLASSES, seed=1, confidence=c) for c in (0.99, 0.8))

    for key in wide.keys() - {*PARTS, "ece_top_label_15", "ece_top_label_equal_mass_15"}:
        ends = (wide[key].low, narrow[key].low, narrow[key].high, wide[key].high)
        assert None not in ends
        assert sorted(end or 0 for end in ends) == list(ends), key


def test_few_cases_are_called_unreliable() -> None:
    found = score_intervals(of_event([0, 1] * 5, np.linspace(0.1, 0.9, 10).tolist()), seed=1)

    for key in ("roc_auc", "ks"):
        assert "unreliable, smaller class has n = 5" in (found[key].note or ""), key
    assert "unreliable, smallest class has n = 5" in (found["log_loss"].note or "")
    assert "unreliable, n = 10" in (found["brier_half"].note or "")
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


@pytest.mark.parametrize("confidence", [1.5, 0.0])
def test_an_unusable_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(InvalidInput) as caught:
        score_intervals(EVENT, seed=1, confidence=confidence)

    assert caught.value.field == "confidence"


def test_small_figures_of_calibrated_models_are_not_rounded_to_nothing() -> None:
    said = CalibrationReference(4e-4, 3e-5, 2e-4, 0.001, 40_000).sentence

    assert said == (
        "a calibrated model would show <0.001 (up to <0.001) on these 40,000 examples: above what "
        "chance explains (p = 0.0010), excess <0.001"
    )
