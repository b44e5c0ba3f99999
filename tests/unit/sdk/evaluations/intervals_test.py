"""Intervals that are asked for after an evaluation in memory."""

from __future__ import annotations

import json

import numpy as np
import pytest

from offdiag import evaluate_labels, evaluate_multilabel, evaluate_scores, stats
from offdiag.errors import InvalidInput
from offdiag.metrics.intervals import suite
from offdiag.metrics.intervals.multilabel import multilabel_intervals
from offdiag.metrics.intervals.scores import class_score_intervals, score_intervals

RNG = np.random.default_rng(6)
TRUE = RNG.choice(["cat", "dog", "fox"], 150, p=[0.5, 0.3, 0.2])
PREDICTED = np.where(RNG.random(150) < 0.7, TRUE, "cat")
P = RNG.beta(1, 2, 120)
HAPPENED = (RNG.random(120) < P).astype(int)
SETS = RNG.random((90, 3)) < 0.4
PREDICTED_SETS = SETS ^ (RNG.random((90, 3)) < 0.2)


def test_an_evaluation_of_labels_gets_the_intervals_of_the_suite() -> None:
    plain = evaluate_labels(y_true=TRUE, y_pred=PREDICTED)
    expected = suite.suite_intervals(plain.matrix, seed=1)

    found = stats.suite_intervals(plain)

    mcc, recall = found.aggregate["mcc"], found.per_class["recall"]["dog"]
    assert (mcc.ci_low, mcc.ci_high) == expected.aggregate["mcc"].bounds.at()
    assert (recall.ci_low, recall.ci_high) == expected.per_class["recall"].bounds.at(1)
    assert found.aggregate["n"].ci_method is None
    assert found.matrix is plain.matrix


def test_values_stay_what_they_were() -> None:
    plain = evaluate_labels(y_true=TRUE, y_pred=PREDICTED)

    found = stats.suite_intervals(plain)

    assert list(found.aggregate) == list(plain.aggregate)
    for key, value in plain.aggregate.items():
        assert (found.aggregate[key].value, found.aggregate[key].reason) == (
            value.value,
            value.reason,
        )
    assert plain.aggregate["mcc"].ci_method is None


def test_an_evaluation_of_scores_gets_its_intervals() -> None:
    plain = evaluate_scores(y_true=HAPPENED, y_score=P)
    expected = score_intervals(plain.forecasts, seed=3, confidence=0.9)

    found = stats.score_intervals(plain, seed=3, confidence=0.9, replicates=500)

    for key, interval in expected.items():
        value = found.aggregate[key]
        assert (value.ci_low, value.ci_high) == (interval.low, interval.high)
    by_class = class_score_intervals(plain.forecasts, confidence=0.9)
    assert found.per_class["roc_auc"]["0"].ci_low == by_class["roc_auc"][0].low


def test_names_of_scorers_mean_the_same_with_intervals() -> None:
    table = RNG.dirichlet(np.ones(3), len(TRUE))
    scored = evaluate_scores(y_true=TRUE, y_score=table)
    counted = evaluate_labels(y_true=HAPPENED, y_pred=(P > 0.5).astype(int))

    brier = stats.score_intervals(scored).aggregate["neg_brier_score"]
    f1 = stats.suite_intervals(counted)

    assert brier.value == scored.aggregate["neg_brier_score"].value
    assert f1.aggregate["f1"] == f1.per_class["f1"]["1"]
    assert f1.aggregate["f1"].value == counted.aggregate["f1"].value


def test_an_evaluation_of_sets_gets_its_intervals() -> None:
    scores = RNG.random((90, 3))
    plain = evaluate_multilabel(y_true=SETS, y_pred=PREDICTED_SETS, y_score=scores)
    expected = multilabel_intervals(SETS, PREDICTED_SETS, scores)

    found = stats.multilabel_intervals(plain)

    for key, interval in expected.aggregate.items():
        assert found.aggregate[key].ci_low == interval.low
    assert found.per_label["recall"]["2"].ci_high == expected.per_label["recall"][2].high
    assert found.per_label["roc_auc"]["1"].ci_low == expected.per_label["roc_auc"][1].low
    assert found.per_label["mcc_ovr"]["0"].ci_method is None


def test_intervals_survive_strict_json_and_show_in_notebooks() -> None:
    evaluations = (
        stats.suite_intervals(evaluate_labels(y_true=TRUE, y_pred=PREDICTED)),
        stats.score_intervals(evaluate_scores(y_true=HAPPENED, y_score=P)),
        stats.multilabel_intervals(evaluate_multilabel(y_true=SETS, y_pred=PREDICTED_SETS)),
    )

    for evaluation in evaluations:
        json.dumps(evaluation.to_dict(), allow_nan=False)
        value = next(each for each in evaluation.aggregate.values() if each.ci_low is not None)
        assert str(value.ci_low)[:4] in evaluation._repr_html_()


def test_a_notebook_has_a_column_of_intervals_only_with_intervals() -> None:
    without = evaluate_scores(y_true=HAPPENED, y_score=P)

    assert "95 % CI" not in without._repr_html_()
    assert "95 % CI" in stats.score_intervals(without)._repr_html_()


def test_unusable_settings_are_refused() -> None:
    with pytest.raises(InvalidInput, match="confidence"):
        stats.suite_intervals(evaluate_labels(y_true=TRUE, y_pred=PREDICTED), confidence=95)
