"""What the imbalance of two classes does to metrics whose definitions say it."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.catalogue import CATALOGUE, SPECS, MetricSpec, Scope
from offdiag.metrics.symmetry import Floats, ImbalanceGroup, has_map, imbalance_effect, value_at

CLASS, WHOLE = CATALOGUE[Scope.PER_CLASS], CATALOGUE[Scope.AGGREGATE]
MAPPED = [spec for spec in SPECS if has_map(spec)]


def moves(spec: MetricSpec, recalls: Floats, specificities: Floats) -> bool:
    """Whether the imbalance changes a metric at these rates."""
    values = [value_at(spec, recalls, specificities, share) for share in (0.5, 0.3, 0.99, 0.001)]
    return not np.allclose(values, values[0], rtol=1e-7, atol=1e-9, equal_nan=True)


def test_groups_hold_at_any_imbalance_and_any_recalls() -> None:
    recalls, specificities = np.random.default_rng(5).uniform(0.01, 0.99, (2, 50))
    for spec in MAPPED:
        effect = imbalance_effect(spec)
        assert effect is not None, spec.key
        is_independent = effect.group is ImbalanceGroup.INDEPENDENT

        assert moves(spec, recalls, specificities) != is_independent, spec.key
        assert moves(spec, recalls, recalls) == (effect.group is ImbalanceGroup.DEPENDENT), (
            spec.key
        )
        assert (effect.mean > 0) != is_independent, spec.key
        if spec.symmetry is not None and spec.symmetry.prevalence_independent:
            assert is_independent, spec.key


def test_the_shift_of_accuracy_is_that_of_the_weighted_mean() -> None:
    effect = imbalance_effect(WHOLE["overall_accuracy"])

    # 0.45 |recall - specificity|, over the centres of 20 x 20 fields.
    places = (np.arange(20) + 0.5) / 20
    apart = 0.45 * np.abs(places[:, np.newaxis] - places)
    assert effect is not None
    assert (effect.mean, effect.largest) == pytest.approx((apart.mean(), apart.max()))


def test_what_counts_samples_has_no_group() -> None:
    assert imbalance_effect(CLASS["support"]) is None
    assert imbalance_effect(CATALOGUE[Scope.PROBABILISTIC]["roc_auc"]) is None
