"""Metrics as functions of two rates and the imbalance."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.catalogue import CATALOGUE, SPECS, Scope
from offdiag.metrics.symmetry import has_map, height, rate_map, value_at

CLASS, WHOLE = CATALOGUE[Scope.PER_CLASS], CATALOGUE[Scope.AGGREGATE]
MAPPED = [spec for spec in SPECS if has_map(spec)]


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_the_recall_of_a_map_is_its_first_axis_at_any_imbalance(share: float) -> None:
    drawn = rate_map(CLASS["recall"], positive_share=share, steps=4)

    assert drawn.values == pytest.approx(np.repeat(drawn.recalls[:, np.newaxis], 4, axis=1))


def test_accuracy_is_the_mean_of_both_rates_weighted_by_the_shares() -> None:
    drawn = rate_map(WHOLE["overall_accuracy"], positive_share=0.2, steps=3)

    expected = 0.2 * drawn.recalls[:, np.newaxis] + 0.8 * drawn.specificities[np.newaxis, :]
    assert drawn.values == pytest.approx(expected)


def test_precision_falls_with_the_share_of_positives() -> None:
    rates = np.array([0.9]), np.array([0.9])

    balanced = value_at(CLASS["precision"], *rates, 0.5)
    rare = value_at(CLASS["precision"], *rates, 0.01)

    assert (balanced[0], rare[0]) == pytest.approx((0.9, 0.009 / (0.009 + 0.099)))


def test_a_map_has_heights_between_its_ends() -> None:
    for spec in MAPPED:
        drawn = rate_map(spec, positive_share=0.1, steps=5)

        heights = [height(spec, value) for value in drawn.values.ravel() if not np.isnan(value)]
        assert len(heights) > 5, spec.key
        assert all(0 <= each <= 1 for each in heights), spec.key


def test_a_metric_called_independent_of_prevalence_has_one_map() -> None:
    independent = [
        spec for spec in MAPPED if spec.symmetry and spec.symmetry.prevalence_independent
    ]
    for spec in independent:
        balanced = rate_map(spec, positive_share=0.5, steps=6)
        rare = rate_map(spec, positive_share=0.03, steps=6)

        assert rare.values == pytest.approx(balanced.values, nan_ok=True), spec.key


def test_a_metric_that_depends_on_the_prevalence_has_not() -> None:
    unchanged = [
        spec.key
        for spec in MAPPED
        if spec.symmetry and not spec.symmetry.prevalence_independent
        if np.allclose(
            rate_map(spec, positive_share=0.5, steps=6).values,
            rate_map(spec, positive_share=0.03, steps=6).values,
            equal_nan=True,
        )
    ]

    # With two classes it is the informedness of either, with more it weighs by their sizes.
    assert unchanged == ["informedness_multiclass"]


def test_counts_have_no_map() -> None:
    assert not has_map(CLASS["tp"])
    assert not has_map(WHOLE["n"])
    assert not has_map(CATALOGUE[Scope.PROBABILISTIC]["roc_auc"])


def test_a_ratio_of_one_lies_in_the_middle() -> None:
    assert height(CLASS["dor"], 1.0) == 0.5
    assert height(CLASS["dor"], float("inf")) == 1.0
    assert height(WHOLE["mcc"], -1.0) == 0.0
