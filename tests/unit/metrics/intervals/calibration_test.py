"""Calibration errors beside those of a perfectly calibrated model."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.intervals import calibration
from offdiag.metrics.intervals.calibration import (
    CalibrationReference,
    calibration_references,
)
from offdiag.metrics.scores.calibration import (
    equal_mass_bins,
    equal_width_bins,
    expected_calibration_error,
    maximum_calibration_error,
)
from offdiag.metrics.scores.ranked import RankedScores, rank_scores

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
    merged = calibration_references(ranked, seed=1)

    for kind in KINDS:
        assert merged[kind].value == exact[kind].value
        assert merged[kind].mean == pytest.approx(exact[kind].mean, rel=0.05)
        assert merged[kind].upper == pytest.approx(exact[kind].upper, rel=0.08)
        assert merged[kind].p == pytest.approx(exact[kind].p, abs=0.07)


def test_p_counts_draws_as_large_as_the_value() -> None:
    # Every outcome of one score of one half has the same error.
    one_score = RankedScores(np.full(1, 0.5), np.zeros(0))

    found = calibration_references(one_score, seed=1)["ece"]

    assert (found.value, found.mean, found.upper, found.p) == (0.5, 0.5, 0.5, 1.0)


def test_certain_scores_that_are_wrong_have_the_smallest_p() -> None:
    wrong = RankedScores(np.zeros(3), np.ones(4))

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


def test_the_same_seed_repeats_every_figure() -> None:
    rng = np.random.default_rng(5)
    p = rng.random(300)
    ranked = rank_scores(rng.random(300) < p, p)

    first, again, other = (calibration_references(ranked, seed=seed) for seed in (1, 1, 2))

    assert first == again
    assert first != other
