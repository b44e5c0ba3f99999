"""scikit-learn as an oracle for weighted cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as reference

from offdiag import evaluate_labels


@pytest.mark.parametrize("n_classes", [2, 5])
def test_metrics_of_weighted_cases_agree_with_scikit_learn(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    actual = rng.integers(0, n_classes, 300)
    predicted = np.where(rng.random(300) < 0.6, actual, rng.integers(0, n_classes, 300))
    weight = rng.exponential(size=300)

    found = evaluate_labels(y_true=actual, y_pred=predicted, sample_weight=weight)

    given = {"y_true": actual, "y_pred": predicted, "sample_weight": weight}
    expected = {
        "overall_accuracy": reference.accuracy_score(**given),
        "balanced_accuracy": reference.balanced_accuracy_score(**given),
        "mcc": reference.matthews_corrcoef(**given),
        "macro_f1": reference.f1_score(average="macro", **given),
        "weighted_precision": reference.precision_score(average="weighted", **given),
    }
    for key, value in expected.items():
        assert found.aggregate[key].value == pytest.approx(value, rel=1e-9), key
    recalls = reference.recall_score(average=None, **given)
    assert [each.value for each in found.per_class["recall"].values()] == pytest.approx(
        recalls.tolist(), rel=1e-9
    )
