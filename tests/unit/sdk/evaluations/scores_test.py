"""`evaluate_scores` from labels and scores to numbers and curves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import Reason
from offdiag.errors import InvalidInput
from offdiag.sdk.evaluations.scores import evaluate_scores

THREE: dict[str, Any] = {
    "y_true": ["a", "b", "c", "a"],
    "y_score": [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6], [0.4, 0.5, 0.1]],
}


@pytest.mark.parametrize(
    ("y_true", "labels", "positive"),
    [
        ([0, 1, 1], ("0", "1"), "1"),
        (["0", "1", "1"], ("0", "1"), "1"),
        ([False, True, True], ("False", "True"), "True"),
        (np.array([0, 1, 1], dtype=np.int8), ("0", "1"), "1"),
    ],
)
def test_the_positive_class_of_zero_and_one_goes_without_saying(
    y_true: object, labels: tuple[str, str], positive: str
) -> None:
    evaluation = evaluate_scores(y_true=y_true, y_score=[0.1, 0.3, 0.9])

    assert evaluation.labels == labels
    assert evaluation.positive_label == positive
    assert evaluation.aggregate["roc_auc"].value == 1


def test_zero_alone_still_belongs_to_zero_and_one() -> None:
    evaluation = evaluate_scores(y_true=[0, 0], y_score=[0.1, 0.3])

    assert evaluation.labels == ("0", "1")
    assert evaluation.aggregate["roc_auc"].reason == Reason.NO_ACTUAL_POSITIVES


def test_other_classes_need_a_named_positive_one() -> None:
    with pytest.raises(InvalidInput, match="'ham' or 'spam'") as caught:
        evaluate_scores(y_true=["ham", "spam"], y_score=[0.2, 0.8])
    assert caught.value.field == "positive_label"

    evaluation = evaluate_scores(y_true=["ham", "spam"], y_score=[0.2, 0.8], positive_label="spam")
    assert evaluation.aggregate["roc_auc"].value == 1


def test_the_first_label_may_be_the_positive_one() -> None:
    scores = [0.9, 0.2, 0.4]

    evaluation = evaluate_scores(
        y_true=["bad", "ok", "ok"], y_score=scores, labels=["bad", "ok"], positive_label="bad"
    )

    assert evaluation.aggregate["roc_auc"].value == 1
    assert evaluation.aggregate["log_loss"].value == pytest.approx(
        -(np.log(0.9) + np.log(0.8) + np.log(0.6)) / 3
    )
    assert evaluation.aggregate["top_1_accuracy"].value == 1


def test_a_declared_positive_zero_wins_over_the_habit() -> None:
    evaluation = evaluate_scores(y_true=[0, 1], y_score=[0.9, 0.2], positive_label=0)

    assert evaluation.positive_label == "0"
    assert evaluation.aggregate["roc_auc"].value == 1


def test_two_columns_need_no_positive_class() -> None:
    evaluation = evaluate_scores(y_true=["ham", "spam"], y_score=[[0.8, 0.2], [0.1, 0.9]])

    assert evaluation.positive_label is None
    assert "roc_auc" not in evaluation.aggregate
    assert evaluation.aggregate["roc_auc_ovr_macro"].value == 1
    assert evaluation.per_class["roc_auc"]["spam"].value == 1


def test_columns_follow_the_declared_order() -> None:
    declared = evaluate_scores(
        y_true=["b", "a"], y_score=[[0.9, 0.1], [0.2, 0.8]], labels=["b", "a"]
    )

    assert declared.aggregate["top_1_accuracy"].value == 1


def test_a_label_set_may_be_handed_in() -> None:
    labels = LabelSet.declared(["low", "high"], ordinal=True)

    evaluation = evaluate_scores(y_true=["high"], y_score=[[0.3, 0.7]], labels=labels)

    assert evaluation.label_set is labels


def test_several_classes() -> None:
    evaluation = evaluate_scores(**THREE)

    assert evaluation.labels == ("a", "b", "c")
    assert evaluation.aggregate["top_1_accuracy"].value == 0.75
    assert evaluation.aggregate["top_2_accuracy"].value == 1
    assert evaluation.per_class["average_precision"]["c"].value == 1


def test_a_class_without_cases_has_to_be_declared() -> None:
    table = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]]
    with pytest.raises(InvalidInput, match="3 columns of scores for 2 classes"):
        evaluate_scores(y_true=["a", "b"], y_score=table)

    evaluation = evaluate_scores(y_true=["a", "b"], y_score=table, labels=["a", "b", "c"])

    assert evaluation.aggregate["roc_auc_ovr_macro"].reason == Reason.CLASS_VALUE_UNDEFINED
    assert evaluation.per_class["roc_auc"]["c"].reason == Reason.NO_ACTUAL_POSITIVES


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"y_true": [0, 1], "y_score": [0.5]}, "y_score"),
        ({"y_true": [], "y_score": []}, "y_true"),
        ({"y_true": [0, 1], "y_score": [0.5, np.nan]}, "y_score"),
        ({"y_true": ["a", "b", "c"], "y_score": [0.1, 0.2, 0.3]}, "y_score"),
        ({**THREE, "positive_label": "a"}, "positive_label"),
        ({"y_true": [0, 1], "y_score": [0.1, 0.2], "positive_label": 2}, "positive_label"),
        ({"y_true": [0, 3], "y_score": [0.1, 0.2], "labels": [0, 1]}, "y_true"),
    ],
)
def test_unusable_input_is_refused_naming_the_argument(
    arguments: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluate_scores(**arguments)

    assert caught.value.field == field


def test_double_precision_is_kept() -> None:
    tied_in_single = [0.5, 0.5 + 1e-12]

    assert evaluate_scores(y_true=[0, 1], y_score=tied_in_single).aggregate["roc_auc"].value == 1


def test_the_dictionary_is_json_without_curves() -> None:
    evaluation = evaluate_scores(y_true=[0, 1, 1], y_score=[0.2, 0.0, 0.9])

    content = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))

    assert list(content) == [
        *("labels", "positive_label", "positive_by_convention"),
        *("n_cases", "aggregate", "per_class"),
    ]
    assert (content["positive_label"], content["positive_by_convention"]) == ("1", True)
    assert content["aggregate"]["log_loss"] == {
        "value": None,
        "reason": "true_class_got_zero",
        "limit": "+inf",
    }
    assert content["per_class"]["roc_auc"][1]["value"] == 0.5


def test_curves_are_about_the_positive_class_unless_another_is_named() -> None:
    evaluation = evaluate_scores(y_true=[0, 1, 1], y_score=[0.2, 0.1, 0.9])

    positive, negative = evaluation.roc_curve(), evaluation.roc_curve(0)

    assert positive.columns["true_positives"].tolist() == [0, 1, 1, 2]
    assert negative.columns["true_positives"].tolist() == [0, 0, 1, 1]
    assert evaluation.precision_recall_curve("1").n_points == 4
    assert evaluation.cost_curve().n_points >= 2


def test_the_reliability_curve_of_the_other_class_uses_the_complement() -> None:
    evaluation = evaluate_scores(y_true=[0, 1, 1], y_score=[0.2, 0.1, 0.9])

    curve = evaluation.reliability_curve(0, n_bins=2)

    assert curve.columns["mean_score"].tolist() == pytest.approx([0.1, 0.85])
    assert curve.columns["observed_share"].tolist() == [0, 0.5]


def test_without_a_positive_class_a_curve_needs_a_label() -> None:
    evaluation = evaluate_scores(**THREE)

    with pytest.raises(InvalidInput, match="Name the class"):
        evaluation.roc_curve()
    assert evaluation.roc_curve("b").columns["true_positive_rate"].tolist()[-1] == 1


def test_scores_that_are_no_probabilities_have_no_reliability_curve() -> None:
    evaluation = evaluate_scores(y_true=[0, 1], y_score=[-1.0, 3.0])

    for curve in (evaluation.reliability_curve(), evaluation.top_label_reliability_curve()):
        assert (curve.n_points, curve.reason) == (0, Reason.SCORES_NOT_PROBABILITIES)
    assert evaluation.roc_curve().n_points == 3


def test_the_top_label_curve_counts_right_answers() -> None:
    curve = evaluate_scores(**THREE).top_label_reliability_curve(n_bins=2)

    assert curve.columns["count"].tolist() == [0, 4]
    assert curve.columns["observed_share"].tolist()[1] == 0.75


def test_a_notebook_shows_values_and_reasons_with_labels_escaped() -> None:
    evaluation = evaluate_scores(
        y_true=["<u>", "b"], y_score=[0.0, 0.3], labels=["b", "<u>"], positive_label="<u>"
    )

    html = evaluation._repr_html_()

    assert "undefined (an actual class was given probability zero; it tends to infinity)" in html
    assert "positive class &lt;u&gt;" in html
    assert "<u>" not in html


def test_a_notebook_names_no_positive_class_where_there_is_none() -> None:
    assert "positive class" not in evaluate_scores(**THREE)._repr_html_()


@pytest.mark.parametrize("weight", [None, [1, 1, 2, 1, 0.5]])
def test_thresholds_of_the_class_without_scores_are_those_of_the_other(
    weight: list[float] | None,
) -> None:
    actual, scores = np.array([0, 0, 1, 0, 1]), np.array([0.0, 0.2, 0.6, 0.7, 0.9])
    evaluation = evaluate_scores(y_true=actual, y_score=scores, sample_weight=weight)

    columns = evaluation.roc_curve("0").columns

    weights = np.ones(5) if weight is None else np.array(weight)
    for threshold, hits, alarms in zip(
        *(columns[name] for name in ("threshold", "true_positives", "false_positives")),
        strict=True,
    ):
        is_reported = scores <= threshold
        assert weights[is_reported & (actual == 0)].sum() == hits
        assert weights[is_reported & (actual == 1)].sum() == alarms
    assert set(columns["threshold"][1:]) == {0.0, 0.2, 0.6, 0.7, 0.9}
    assert set(evaluation.precision_recall_curve("0").columns["threshold"]) == set(
        columns["threshold"]
    )


def test_corners_of_the_cost_of_the_class_without_scores_are_on_given_scores() -> None:
    evaluation = evaluate_scores(y_true=[0, 0, 1, 0, 1], y_score=[0.0, 0.2, 0.6, 0.7, 0.9])

    assert evaluation.cost_curve("0").columns["threshold"].max() == 0.7
