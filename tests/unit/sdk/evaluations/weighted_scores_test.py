"""Evaluating scores with sample weights in memory."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve, roc_curve

from offdiag import WeightedScoreEvaluation, evaluate_scores, stats
from offdiag.errors import InvalidInput

RNG = np.random.default_rng(5)
Y = (RNG.random(200) < 0.4).astype(int)
P = np.round(np.clip(0.3 * Y + 0.7 * RNG.random(200), 0, 1), 2)
W = np.where(RNG.random(200) < 0.1, 0.0, RNG.exponential(size=200))


def evaluated(**changes: Any) -> WeightedScoreEvaluation:
    found = evaluate_scores(**{"y_true": Y, "y_score": P, "sample_weight": W} | changes)
    assert isinstance(found, WeightedScoreEvaluation)
    return found


def test_curves_are_those_of_scikit_learn() -> None:
    roc, precision_recall = evaluated().roc_curve(), evaluated().precision_recall_curve()

    fpr, tpr, thresholds = roc_curve(Y, P, sample_weight=W, drop_intermediate=False)
    kept = np.isin(thresholds, np.append(P[W > 0], np.inf))
    assert roc.columns["false_positive_rate"] == pytest.approx(fpr[kept])
    assert roc.columns["true_positive_rate"] == pytest.approx(tpr[kept])
    precision, recall, thresholds = precision_recall_curve(Y, P, sample_weight=W)
    kept = np.isin(thresholds, P[W > 0])
    assert precision_recall.columns["precision"][1:] == pytest.approx(precision[:-1][kept][::-1])
    assert precision_recall.columns["recall"][1:] == pytest.approx(recall[:-1][kept][::-1])


def test_without_a_kind_of_samples_curves_say_why() -> None:
    negative = np.where(Y == 1, 0, W)

    assert evaluated(sample_weight=negative).roc_curve().reason == "no_actual_positives"
    found = evaluated(sample_weight=negative).precision_recall_curve()
    assert (found.n_points, found.reason) == (0, "no_actual_positives")


def test_it_reads_like_other_evaluations() -> None:
    found = evaluated()

    document = found.to_dict()
    json.dumps(document, allow_nan=False)
    assert document["weighted"] is True
    assert (found.n_samples, found.labels, found.positive_label) == (200, ("0", "1"), "1")
    assert found.n_effective == pytest.approx(W.sum() ** 2 / np.square(W).sum())
    assert "200 weighted examples" in repr(found)
    assert found.per_class["roc_auc"]["1"].value == found.aggregate["roc_auc"].value
    assert "Weighted metrics" in found._repr_html_()


def test_intervals_take_another_confidence() -> None:
    wide = evaluated().aggregate["roc_auc"]
    narrow = stats.score_intervals(evaluated(), confidence=0.5).aggregate["roc_auc"]

    ends = [wide.ci_low, narrow.ci_low, narrow.value, narrow.ci_high, wide.ci_high]
    assert np.all(np.diff(np.array(ends, np.float64)) > 0)


@pytest.mark.parametrize(
    ("weight", "message"), [(np.ones(3), "sample_weight"), (np.zeros(200), "all weights are 0")]
)
def test_unusable_weights_are_named(weight: np.ndarray, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        evaluated(sample_weight=weight)


def test_a_class_with_no_positive_has_no_default_curve() -> None:
    both = evaluated(y_true=np.where(Y, "b", "a"), y_score=np.column_stack([1 - P, P]))

    assert both.aggregate["roc_auc_ovr_macro"].value is not None
    with pytest.raises(InvalidInput, match=r"none of .* is the positive class"):
        both.roc_curve()
    assert both.roc_curve("b").n_points > 10
