"""`evaluate_multilabel` from sets to numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.sdk.evaluations.multilabel import evaluate_multilabel
from support.krstinic import ACTUAL_SETS, PREDICTED_SETS, indicator

MEASURES = ("jaccard", "precision", "recall", "f1")
AGGREGATE = {
    "subset_accuracy",
    "hamming_loss",
    "label_cardinality",
    "label_density",
    *(f"example_{measure}{rule}" for measure in MEASURES for rule in ("", "_zd0", "_zd1")),
    *(f"{kind}_{measure}" for kind in ("micro", "macro", "weighted") for measure in MEASURES),
    *(f"macro_{measure}_defined" for measure in MEASURES),
}


def test_the_keys_are_those_of_the_catalogue() -> None:
    evaluation = evaluate_multilabel(y_true=[{"a"}, {"b"}], y_pred=[{"a"}, {"a"}])

    assert set(evaluation.aggregate) == AGGREGATE
    assert {"tp", "fn", "fp", "tn", "precision", "recall"} <= set(evaluation.per_label)
    assert not {"roc_auc"} & set(evaluation.per_label)


def test_the_worked_example_of_the_paper() -> None:
    evaluation = evaluate_multilabel(
        y_true=indicator(ACTUAL_SETS), y_pred=indicator(PREDICTED_SETS), labels=list("abcd")
    )

    assert evaluation.multilabel_matrix.loc["b", "b"] == 14 / 3
    assert evaluation.row_share.loc["c", "a"] == pytest.approx(1 / 3)
    assert evaluation.column_share.loc["b", "c"] == pytest.approx(0.5 / 3)
    assert evaluation.per_label["precision"]["a"].value == 0.2
    assert evaluation.per_label["recall"]["d"].value == pytest.approx(2 / 3)


def test_empty_sets_are_reported_by_label() -> None:
    evaluation = evaluate_multilabel(
        y_true=[set(), {"a"}, set()], y_pred=[set(), set(), {"b"}], labels=["a", "b"]
    )

    empty = evaluation.empty_sets
    assert (empty.both_empty, empty.n_true_empty, empty.n_pred_empty) == (1, 2, 2)
    assert empty.missed_when_pred_empty == {"a": 1, "b": 0}
    assert empty.spurious_when_true_empty == {"a": 0, "b": 1}
    assert evaluation.aggregate["example_f1"].value == pytest.approx(1 / 3)


def test_numbers_of_samples_are_also_read_by_their_former_name() -> None:
    evaluation = evaluate_multilabel(y_true=[{"a"}, {"a"}], y_pred=[{"a"}, set()])

    assert evaluation.n_samples == evaluation.n_cases == 2
    assert evaluation.matrix.n_samples == evaluation.matrix.n_cases == 1


def test_the_dictionary_is_json_with_null_for_what_is_undefined() -> None:
    evaluation = evaluate_multilabel(
        y_true=[{"a"}, {"a"}], y_pred=[{"a"}, set()], labels=["a", "b"], y_score=np.eye(2)
    )

    content = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))

    assert list(content) == [
        "labels",
        "orientation",
        "n_cases",
        "aggregate",
        "per_label",
        "multilabel_matrix",
        "row_share",
        "column_share",
        "empty_sets",
    ]
    assert content["orientation"] == "actual_rows"
    assert content["multilabel_matrix"] == [[1.0, 0.0], [0.0, 0.0]]
    assert content["row_share"] == [[1.0, 0.0], [None, None]]
    assert content["column_share"] == [[1.0, None], [0.0, None]]
    assert content["empty_sets"] == {
        "both_empty": 0,
        "n_true_empty": 0,
        "n_pred_empty": 1,
        "missed_when_pred_empty": [1, 0],
        "spurious_when_true_empty": [0, 0],
    }
    assert content["per_label"]["recall"] == [
        {"value": 0.5, "reason": None, "limit": None},
        {"value": None, "reason": "no_actual_positives", "limit": None},
    ]


def test_a_label_set_may_be_handed_in() -> None:
    labels = LabelSet.declared(["b", "a"])

    evaluation = evaluate_multilabel(y_true=[{"a"}], y_pred=[{"b"}], labels=labels)

    assert evaluation.label_set is labels
    assert evaluation.matrix.cells.tolist() == [[0, 0], [1, 0]]


def test_one_label_alone_is_accepted() -> None:
    evaluation = evaluate_multilabel(y_true=[[1], [0], [1]], y_pred=[[1], [1], [0]])

    assert evaluation.aggregate["micro_f1"].value == 0.5
    assert evaluation.aggregate["hamming_loss"].value == pytest.approx(2 / 3)
    assert evaluation.labels == ("0",)


def test_scores_need_a_column_for_each_label() -> None:
    with pytest.raises(InvalidInput, match="1 columns of scores for 2 labels"):
        evaluate_multilabel(y_true=[{"a", "b"}], y_pred=[{"a"}], y_score=[0.5])


def test_a_notebook_shows_headlines_with_hostile_labels_escaped() -> None:
    evaluation = evaluate_multilabel(y_true=[{"<u>"}], y_pred=[{"<u>"}])

    html = evaluation._repr_html_()

    assert "subset_accuracy" in html
    assert "<u>" not in html
