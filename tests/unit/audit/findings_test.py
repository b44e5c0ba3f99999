"""The outcome of an audit is one plain sentence."""

from __future__ import annotations

from typing import Any

import pytest

from offdiag import audit_reported
from offdiag.audit.table_text.audit import audit_table_text

MATRIX = [[72, 6, 2], [8, 6, 1], [2, 1, 2]]


@pytest.mark.parametrize(
    ("reported", "facts", "headline"),
    [
        ({"accuracy": "0.8"}, {}, "Nothing contradicts the numbers."),
        ({"accuracy": "0.8"}, {"matrix": MATRIX}, "Every number follows from the matrix."),
        (
            {"accuracy": "0.8", "macro f1": "0.5724"},
            {"matrix": MATRIX},
            (
                "Every number follows from the matrix, where macro f1 0.5724 was cut off instead "
                "of rounded."
            ),
        ),
        (
            {"accuracy": "0.8", "macro f1": "57.3 %"},
            {"matrix": MATRIX},
            "Macro f1 57.3 % is the value of another metric, macro_f1_harmonic.",
        ),
        (
            {"accuracy": "0.8", "macro f1": "51.3 %"},
            {"matrix": MATRIX},
            "Macro f1 51.3 % does not come from this matrix.",
        ),
        (
            {"accuracy": "0.8"},
            {"matrix": MATRIX, "class_counts": [10, 10, 80]},
            "The matrix cannot be true: neither margin of the matrix has the class counts.",
        ),
        (
            {"accuracy": "0.1", "mcc": "0.2"},
            {"matrix": MATRIX},
            "None of the 2 numbers comes from this matrix.",
        ),
        ({"accuracy": "0.93"}, {"class_counts": [3, 3]}, "Accuracy 0.93 cannot be true."),
        (
            {"mcc": "0.30", "kappa": "0.35", "accuracy": "0.9"},
            {},
            "At least one of mcc 0.30 and kappa 0.35 is wrong.",
        ),
        (
            {"macro precision": "0.57686", "macro recall": "0.57768"},
            {"matrix": [[8, 3, 8], [1, 17, 3], [5, 2, 7]]},
            (
                "Macro precision 0.57686 and macro recall 0.57768 fit only if actual and "
                "predicted classes trade places."
            ),
        ),
    ],
)
def test_the_headline_says_what_came_out(
    reported: dict[str, str], facts: dict[str, Any], headline: str
) -> None:
    report = audit_reported(reported=reported, **facts)

    assert report.headline == report.to_dict()["headline"] == headline
    assert str(report).splitlines()[0] == headline


@pytest.mark.parametrize(
    ("rows", "headline"),
    [
        ("SVM\t0.93\t0.07\nCNN\t0.95\t0.05", "Nothing contradicts the numbers."),
        (
            "SVM\t0.93\t0.07\nCNN\t0.95\t0.09",
            "CNN: at least one of Accuracy 0.95 and Error rate 0.09 is wrong.",
        ),
        (
            "SVM\t0.93\t0.05\nCNN\t0.95\t0.09",
            "SVM and CNN have numbers that cannot be true together.",
        ),
    ],
)
def test_several_models_have_one_headline(rows: str, headline: str) -> None:
    assert audit_table_text(f"Model\tAccuracy\tError rate\n{rows}").headline == headline
