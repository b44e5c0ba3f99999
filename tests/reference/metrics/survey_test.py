"""Published survey samples and scikit-learn as oracles for weighted runs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as reference

import offdiag
from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.metrics.weighted.intervals import cost_errors

SIZE = [2, 3, 3, 5, 4, 7, 2, 4, 2, 5, 3, 6, 4, 4, 2, 5, 3, 4, 2, 4, 2, 5, 3, 4, 7, 3, 3, 6, 2, 2]
SIZE += [6, 4, 2]
INCOME = [62, 62, 87, 65, 58, 92, 88, 79, 83, 62, 63, 62, 60, 75, 90, 75, 69, 83, 85, 73, 66, 58]
INCOME += [77, 69, 65, 77, 69, 95, 77, 69, 69, 67, 63]
FOOD = [14.3, 20.8, 22.7, 30.5, 41.2, 28.2, 24.2, 30.0, 24.2, 44.4, 13.4, 19.8, 29.4, 27.1, 22.2]
FOOD += [37.7, 22.6, 36.0, 20.6, 27.7, 25.9, 23.5, 39.8, 16.8, 37.8, 34.8, 28.7, 63.0, 19.5, 21.6]
FOOD += [18.2, 20.1, 20.7]
"""Families by size, weekly income and weekly cost of food: Cochran 1977, Sampling Techniques,
3rd edition, 2.11."""


@pytest.mark.parametrize(
    ("weight", "ratio", "error", "digits"),
    [
        pytest.param(SIZE, 7.38, 0.534, 2, id="food a person"),
        pytest.param(INCOME, 0.379, 0.0238, 3, id="share of income"),
    ],
)
def test_a_mean_cost_has_the_standard_error_of_a_ratio_in_a_textbook(
    weight: list[int], ratio: float, error: float, digits: int
) -> None:
    """Each family is a class of its own, whose correct prediction costs what it spent a unit."""
    n = len(FOOD)
    code = np.arange(n, dtype=np.uint8)
    labels = LabelSet.numbered(n)
    counted = WeightedCounts.of_samples(code, code, np.array(weight, np.float64), labels)
    costs = CostMatrix(np.diag(np.array(FOOD) / weight), labels)

    found = cost_errors(counted, costs)["mean_cost"]

    assert round(float((counted.sums * costs.weights).sum() / counted.sums.sum()), digits) == ratio
    # The book divides by n - 1 where large samples make no difference.
    ours = float(found) * np.sqrt(n / (n - 1))
    assert ours == pytest.approx(error, abs=0.5 * 10.0 ** -(digits + 1))


@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_stored_run_with_weights_has_the_values_of_scikit_learn(
    registry_url: str, n_classes: int
) -> None:
    rng = np.random.default_rng(n_classes)
    actual = rng.integers(0, n_classes, 300)
    predicted = np.where(rng.random(300) < 0.6, actual, rng.integers(0, n_classes, 300))
    weight = rng.exponential(size=300)

    run = offdiag.log_run(
        y_true=actual,
        y_pred=predicted,
        sample_weight=weight,
        name="weighted",
        dataset=f"numbers {n_classes}",
        url=registry_url,
    )

    found = run.evaluation()
    given = {"y_true": actual, "y_pred": predicted, "sample_weight": weight}
    expected = {
        "overall_accuracy": reference.accuracy_score(**given),
        "balanced_accuracy": reference.balanced_accuracy_score(**given),
        "mcc": reference.matthews_corrcoef(**given),
        "cohen_kappa": reference.cohen_kappa_score(actual, predicted, sample_weight=weight),
        **{
            f"{average}_{name}": getattr(reference, f"{name}_score")(average=average, **given)
            for average in ("macro", "micro", "weighted")
            for name in ("f1", "precision", "recall", "jaccard")
        },
        "hamming_loss": reference.hamming_loss(**given),
    }
    known = found.aggregate.keys()
    for key, value in expected.items():
        if key in known:
            assert found.aggregate[key].value == pytest.approx(value, rel=1e-9), key
    assert {"macro_jaccard", "weighted_f1", "cohen_kappa"} <= known
    for key in ("recall", "precision", "f1", "jaccard"):
        theirs = getattr(reference, f"{key}_score")(average=None, **given)
        ours = [each.value for each in found.per_class[key].values()]
        assert ours == pytest.approx(theirs.tolist(), rel=1e-9), key
    matrix = reference.confusion_matrix(actual, predicted, sample_weight=weight)
    assert found.confusion_matrix.to_numpy() == pytest.approx(matrix)
