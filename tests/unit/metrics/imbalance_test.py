"""What the imbalance of two classes does to metrics whose definitions say it."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.catalogue import CATALOGUE, SPECS, MetricSpec, Scope
from offdiag.metrics.symmetry import Floats, ImbalanceGroup, has_map, imbalance_effect, value_at

CLASS, WHOLE = CATALOGUE[Scope.PER_CLASS], CATALOGUE[Scope.AGGREGATE]
MAPPED = [spec for spec in SPECS if has_map(spec)]


@pytest.mark.parametrize("spec", MAPPED, ids=lambda spec: f"{spec.scope.value}.{spec.key}")
def test_groups_hold_at_any_imbalance_and_any_recalls(spec: MetricSpec) -> None:
    rng = np.random.default_rng(5)
    recalls, specificities = rng.uniform(0.01, 0.99, (2, 50))
    effect = imbalance_effect(spec)
    assert effect is not None

    def moves(first: Floats, second: Floats) -> bool:
        values = [value_at(spec, first, second, share) for share in (0.5, 0.3, 0.99, 0.001)]
        return not np.allclose(values, values[0], rtol=1e-7, atol=1e-9, equal_nan=True)

    assert moves(recalls, specificities) == (effect.group is not ImbalanceGroup.INDEPENDENT)
    assert moves(recalls, recalls) == (effect.group is ImbalanceGroup.DEPENDENT)
    assert (effect.mean > 0) == (effect.group is not ImbalanceGroup.INDEPENDENT)
    if spec.symmetry is not None and spec.symmetry.prevalence_independent:
        assert effect.group is ImbalanceGroup.INDEPENDENT


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
