"""Metrics as functions of two rates and the imbalance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from offdiag.metrics.catalogue import CATALOGUE, SPECS, Scope
from offdiag.metrics.spec import Transformation
from offdiag.metrics.suite import evaluate_stack
from offdiag.metrics.symmetry import effect_words, has_map, height, rate_map, value_at

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


SAID: dict[str, Callable[[float], float]] = {
    "unchanged": lambda own: own,
    "becomes 1 minus the value": lambda own: 1 - own,
    "changes its sign": lambda own: -own,
    "becomes its reciprocal": lambda own: 1 / own,
}
SAID_OF_PARTNER: dict[str, Callable[[float], float]] = {
    "becomes": lambda partner: partner,
    "becomes 1 minus": lambda partner: 1 - partner,
}


@pytest.mark.parametrize(
    ("transformation", "flipped"),
    [
        (Transformation.CLASS_INVERSION, (1, 2)),
        (Transformation.SCORING_INVERSION, 2),
        (Transformation.FULL_INVERSION, 1),
    ],
)
def test_words_say_what_an_inversion_does_to_the_value(
    transformation: Transformation, flipped: int | tuple[int, int]
) -> None:
    counts = np.array([[[53, 7], [10, 30]]])
    before, after = (
        evaluate_stack(each, ordinal=True) for each in (counts, np.flip(counts, flipped))
    )

    heard = set()
    for spec in MAPPED:
        words, partner = effect_words(spec, transformation)
        old, new = (
            {key: values.value.ravel()[0] for key, values in each.aggregate.items()}
            | {key: values.value[0, 1] for key, values in each.per_class.items()}
            for each in (before, after)
        )
        if words != "changes":
            heard.add(words)
            expected = (
                SAID[words](old[spec.key])
                if partner is None
                else SAID_OF_PARTNER[words](old[partner])
            )
            assert new[spec.key] == pytest.approx(expected), spec.key
    assert len(heard) >= 2


def test_counts_have_no_map() -> None:
    assert not has_map(CLASS["tp"])
    assert not has_map(WHOLE["n"])
    assert not has_map(CATALOGUE[Scope.PROBABILISTIC]["roc_auc"])


def test_a_ratio_of_one_lies_in_the_middle() -> None:
    assert height(CLASS["dor"], 1.0) == 0.5
    assert height(CLASS["dor"], float("inf")) == 1.0
    assert height(WHOLE["mcc"], -1.0) == 0.0
