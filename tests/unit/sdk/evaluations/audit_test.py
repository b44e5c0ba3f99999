"""What `audit_reported` accepts, how it understands it, and what it hands back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from offdiag.audit.findings import AuditVerdict
from offdiag.errors import InvalidInput
from offdiag.sdk.evaluations.audit import audit_reported
from support.published_matrices import SCREENING, THREE_CLASSES

SCREENING_REPORTED = {"accuracy": "97.8%", "precision": "28.6%", "recall": "80%"}


@pytest.mark.parametrize(
    "class_counts",
    [
        {"-": 9900, "+": 100},
        {"+": 100, "-": 9900},
        [100, 9900],
        np.array([100, 9900]),
        pd.Series(["+"] * 100 + ["-"] * 9900).value_counts(),
        pd.Series([100, 9900]),
    ],
)
def test_class_counts_come_by_label_or_in_label_order(class_counts: Any) -> None:
    report = audit_reported(
        reported=SCREENING_REPORTED,
        class_counts=class_counts,
        labels=["+", "-"],
        positive_label="+",
    )

    assert report.verdict is AuditVerdict.CONSISTENT
    assert report.tables is not None
    assert report.tables.count == 1


def test_a_series_of_class_values_is_read_by_its_index() -> None:
    recalls = pd.Series(["99%", "80%"], index=["-", "+"])
    sizes = pd.Series({"+": 100, "-": 9900})

    report = audit_reported(reported={"recall": recalls}, class_counts=sizes)
    named = audit_reported(reported={"recall": dict(recalls)}, class_counts=dict(sizes))
    counted = audit_reported(reported={"recall": recalls})

    assert report.to_dict() == named.to_dict()
    assert {each["label"] for each in counted.to_dict()["numbers"]} == {"+", "-"}
    by_number = audit_reported(
        reported={"recall": pd.Series(["80%", "99%"])}, class_counts={1: 9900, 0: 100}
    )
    assert [each["label"] for each in by_number.to_dict()["numbers"]] == ["0", "1"]


def test_integer_labels_are_the_texts_they_look_like() -> None:
    report = audit_reported(
        reported={"recall": {1: "80%"}}, class_counts={1: 100, 0: 9900}, positive_label=1
    )

    assert report.to_dict()["numbers"][0]["label"] == "1"


@pytest.mark.parametrize(
    ("arguments", "field", "message"),
    [
        ({"reported": {}}, "reported", "no number was reported"),
        ({"reported": {"acuracy": 0.9}}, "reported", "'acuracy' is not a metric"),
        ({"reported": {"accuracy": "high"}}, "reported['accuracy']", "'high' is not a number"),
        (
            {"reported": {"accuracy": {"A": 0.9}}},
            "reported['accuracy']",
            "one number for the whole",
        ),
        (
            {"reported": {"recall": {"D": 0.9}}, "labels": "ABC"},
            "reported['recall']",
            "'D' is not one",
        ),
        ({"reported": {"recall": [0.9]}, "labels": "ABC"}, "reported['recall']", "1 values for 3"),
        (
            {"reported": {"specificity": 0.9}, "labels": "ABC"},
            "reported['specificity']",
            "one class",
        ),
        ({"reported": {"mcc": 0.9}, "class_counts": [3, -1]}, "class_counts", "negative"),
        ({"reported": {"mcc": 0.9}, "class_counts": 12}, "class_counts", "the shape ()"),
        (
            {"reported": {"mcc": 0.9}, "class_counts": [3, 1], "labels": "ABC"},
            "class_counts",
            "for 3 classes",
        ),
        (
            {"reported": {"mcc": 0.9}, "class_counts": {"A": 3}, "labels": "AB"},
            "class_counts",
            "the labels are ['A', 'B']",
        ),
        (
            {"reported": {"mcc": 0.9}, "positive_label": "yes"},
            "positive_label",
            "no classes are known",
        ),
        (
            {"reported": {"mcc": 0.9}, "labels": "AB", "positive_label": "yes"},
            "positive_label",
            "'yes' is not one",
        ),
        ({"reported": {"mcc": 0.9}, "matrix": [[1, 2, 3]]}, "matrix", "(1, 3)"),
        ({"reported": {"mcc": 0.9}, "matrix": [[0.5, 2], [1, 2]]}, "matrix", "not whole"),
    ],
)
def test_what_cannot_be_meant_is_refused_naming_the_field(
    arguments: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        audit_reported(**arguments)

    assert caught.value.field == field
    assert message in caught.value.message
    assert caught.value.hint


def test_two_positive_classes_that_fit_alike_are_both_named() -> None:
    report = audit_reported(reported={"recall": "0.5"}, class_counts={"a": 10, "b": 10})

    assert report.reading == (
        "'b' is the positive class (just as well: 'a' is the positive class)"
    )


@pytest.mark.parametrize(
    ("reported", "reading"),
    [
        ({"precision": "57.99%", "recall": "56.67%", "f1": "57.25%"}, "macro averages"),
        ({"precision": "79.1%", "recall": "80%", "f1": "79.5%"}, "weighted averages"),
        ({"precision": "80%", "recall": "80%", "f1": "80%"}, "micro averages"),
    ],
)
def test_plain_precision_and_recall_of_three_classes_are_recognised_as_averages(
    reported: dict[str, str], reading: str
) -> None:
    report = audit_reported(reported=reported, matrix=THREE_CLASSES)

    assert report.verdict is AuditVerdict.CONSISTENT
    assert report.reading == reading


def test_plain_metrics_without_any_classes_belong_to_one_class_if_they_can() -> None:
    of_class = audit_reported(reported={"precision": "0.50", "recall": "0.25", "f1": "0.33"})
    averages = audit_reported(reported={"precision": "0.50", "recall": "0.25", "f1": "0.30"})

    assert of_class.reading.startswith("class metrics belong to one class")
    assert averages.reading.startswith("macro averages")
    assert averages.findings[2].definition.key == "macro_f1"


def test_an_undefined_value_printed_as_zero_is_named_so() -> None:
    report = audit_reported(
        reported={"precision": {"+": "0.00"}, "mcc": "0.0"},
        matrix=[[0, 10], [0, 990]],
        labels=["+", "-"],
    )

    assert report.verdict is AuditVerdict.OTHER_DEFINITION
    assert {f.definition.note for f in report.findings} == {"0/0 counted as 0"}
    assert report.findings[0].why == (
        "the matrix gives no value (0/0), so this is precision of '+' (0/0 counted as 0)"
    )


def test_numbers_decide_the_orientation_where_nothing_else_does() -> None:
    exchanged = np.array(SCREENING).transpose()

    report = audit_reported(
        reported=SCREENING_REPORTED, matrix=exchanged, labels=["+", "-"], positive_label="+"
    )

    assert report.verdict is AuditVerdict.TRANSPOSED
    assert report.matrix is not None
    assert report.matrix.decided_by == "numbers"
    assert report.matrix.to_dict()["orientation"] == "actual_columns"
    assert report.matrix.why == (
        "precision, recall fit only with actual classes along the columns"
    )


def test_class_counts_decide_the_orientation_of_a_right_table() -> None:
    exchanged = np.array(SCREENING).transpose()

    report = audit_reported(
        reported=SCREENING_REPORTED,
        matrix=exchanged,
        class_counts={"+": 100, "-": 9900},
        positive_label="+",
    )

    assert report.verdict is AuditVerdict.TRANSPOSED
    assert report.why == "the class counts are the sums of the columns"
    assert {f.verdict for f in report.findings} == {AuditVerdict.CONSISTENT}


def test_the_report_is_json_with_everything_a_page_needs() -> None:
    report = audit_reported(
        reported=SCREENING_REPORTED, class_counts={"+": 100, "-": 9900}, positive_label="+"
    )

    stored = json.loads(json.dumps(report.to_dict(), allow_nan=False))

    assert stored["verdict"] == "consistent"
    assert stored["labels"] == ["+", "-"]
    assert stored["matrices"] == {
        "orientation": "actual_rows",
        "is_complete": True,
        "count": 1,
        "listed": [[[80, 20], [200, 9700]]],
    }
    precision = stored["numbers"][1]
    assert precision == {
        "name": "precision",
        "metric": "precision",
        "label": "+",
        "reported": "28.6%",
        "allowed": [pytest.approx(0.2855), pytest.approx(0.2865)],
        "verdict": "consistent",
        "why": "all values come from one matrix of 100 and 9900 examples",
        "definition": {"metric": "precision", "label": "+", "note": None},
        "exact": None,
        "expected": None,
        "rounding": None,
    }
    assert {check["kind"] for check in stored["checks"]} == {"bound", "counts"}


def test_at_most_a_thousand_matrices_are_listed_and_all_are_counted() -> None:
    report = audit_reported(reported={"accuracy": "0.9"}, class_counts=[300, 300])

    matrices = report.to_dict()["matrices"]

    assert matrices["count"] > 1_000
    assert len(matrices["listed"]) == 1_000


def test_too_many_matrices_to_search_are_said_to_be_so() -> None:
    report = audit_reported(reported={"accuracy": "0.9"}, class_counts=[10**6, 10**6])

    assert report.verdict is AuditVerdict.CONSISTENT
    assert report.to_dict()["matrices"] == {
        "orientation": "actual_rows",
        "is_complete": False,
        "count": None,
        "listed": [],
    }


def test_the_report_prints_one_line_for_each_number() -> None:
    report = audit_reported(reported={"accuracy": "0.8", "error rate": "0.2"})

    assert str(report).splitlines() == [
        "Nothing contradicts the numbers.",
        "  accuracy 0.8: consistent, error rate = 1 - accuracy",
        "  error rate 0.2: consistent, error rate = 1 - accuracy",
    ]
