"""The evaluation a user holds: look-ups, exports, and hostile class names."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.errors import InvalidInput, UnknownKey
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS
from offdiag.sdk.evaluations.evaluation import Evaluation
from support.published_matrices import WINE


@pytest.fixture
def wine() -> Evaluation:
    labels = LabelSet.declared([1, 2, 3])
    return Evaluation.of_matrix(ConfusionMatrix(np.array(WINE), labels))


def test_a_value_is_found_by_key(wine: Evaluation) -> None:
    assert wine.aggregate["overall_accuracy"] == MetricValue(32 / 54)


def test_a_class_is_found_by_text_and_by_the_number_the_data_hold(wine: Evaluation) -> None:
    recall = wine.per_class["recall"]

    assert recall["2"] == recall[2] == recall[np.int64(2)] == MetricValue(17 / 21)


def test_a_wrong_key_is_a_key_error_that_names_similar_keys(wine: Evaluation) -> None:
    with pytest.raises(KeyError) as error:
        wine.aggregate["balanced_acuracy"]

    assert isinstance(error.value, UnknownKey)
    assert "'balanced_accuracy'" in str(error.value)


def test_a_wrong_class_is_a_key_error_that_names_the_classes(wine: Evaluation) -> None:
    with pytest.raises(KeyError, match="there is no class 'setosa'") as error:
        wine.per_class["recall"]["setosa"]

    assert "Known classes: 1, 2, 3." in str(error.value)


def test_a_fraction_is_no_class_name(wine: Evaluation) -> None:
    with pytest.raises(InvalidInput, match="is not a label"):
        wine.per_class["recall"][1.5]


def test_absence_can_be_asked_for_without_an_exception(wine: Evaluation) -> None:
    assert "acuracy" not in wine.aggregate
    assert wine.aggregate.get("acuracy") is None
    assert "4" not in wine.per_class["recall"]


def test_the_frame_names_both_axes_and_keeps_label_order(wine: Evaluation) -> None:
    frame = wine.confusion_matrix

    assert (frame.index.name, frame.columns.name) == ("actual", "predicted")
    assert frame.loc["1", "3"] == 8
    assert frame.loc["3", "1"] == 5


def test_changing_the_frame_does_not_change_the_evaluation(wine: Evaluation) -> None:
    frame = wine.confusion_matrix
    frame.loc["1", "1"] = 99

    assert wine.confusion_matrix.loc["1", "1"] == 8


def test_the_dictionary_is_plain_and_complete(wine: Evaluation) -> None:
    exported = wine.to_dict()

    assert json.loads(json.dumps(exported, allow_nan=False)) == exported
    assert list(exported) == ["labels", "orientation", "matrix", "aggregate", "per_class"]
    assert exported["labels"] == ["1", "2", "3"]
    assert exported["orientation"] == "actual_rows"
    assert exported["matrix"] == WINE
    assert tuple(exported["aggregate"]) == AGGREGATE_KEYS
    assert tuple(exported["per_class"]) == PER_CLASS_KEYS
    assert exported["aggregate"]["kappa_linear"] == {
        "value": pytest.approx(0.23605497170573964),
        "reason": None,
        "limit": None,
    }
    assert [cell["value"] for cell in exported["per_class"]["tp"]] == [8, 17, 7]


def test_a_limit_is_written_as_text() -> None:
    labels = LabelSet.declared(["yes", "no"])
    exported = Evaluation.of_matrix(ConfusionMatrix(np.array([[3, 0], [0, 5]]), labels)).to_dict()

    assert exported["per_class"]["dor"][0] == {
        "value": None,
        "reason": "positive_over_zero",
        "limit": "+inf",
    }


def test_stored_values_are_shown_as_they_were_stored() -> None:
    labels = LabelSet.declared(["a", "b"])
    stored = MetricValue(0.5, ci_low=0.4, ci_high=0.6, ci_method="wilson")

    evaluation = Evaluation.of_values(
        ConfusionMatrix(np.array([[1, 1], [1, 1]]), labels),
        aggregate={"overall_accuracy": stored},
        per_class={"recall": (stored, MetricValue(None, "no_actual_positives"))},
    )

    assert evaluation.aggregate["overall_accuracy"] is stored
    assert evaluation.per_class["recall"]["b"].reason == "no_actual_positives"
    assert evaluation.to_dict()["aggregate"]["overall_accuracy"]["ci_low"] == 0.4
    assert "0.40 – 0.60" in evaluation._repr_html_()


def test_counts_of_classes_are_printed_as_whole_numbers(wine: Evaluation) -> None:
    shown = str(wine.per_class)

    assert re.search(r"^tp +1 \d+, 2 \d+, 3 \d+$", shown, re.MULTILINE)
    assert re.search(r"^recall +1 0\.\d{3}, ", shown, re.MULTILINE)
    assert re.fullmatch(r"1 +\d+\n2 +\d+\n3 +\d+", str(wine.per_class["support"]))
