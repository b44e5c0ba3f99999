"""Problems in a few words."""

from __future__ import annotations

import pytest

from offdiag.flags.problem_words import problem_title, reason, value_now
from offdiag.flags.problems import Cause, ProblemKey


@pytest.mark.parametrize(
    ("class_label", "title"),
    [("df", "df missed"), ("8", "“8” missed"), ("not found", "“not found” missed")],
)
def test_a_class_is_quoted_where_its_name_reads_as_something_else(
    class_label: str, title: str
) -> None:
    assert problem_title(ProblemKey(1, "vit", Cause.MISSED, class_label)) == title


def test_no_more_is_said_than_a_rule_found() -> None:
    # F5 fires where a gain may be chance, F6 to F8 compare values of these examples.
    assert problem_title(ProblemKey(1, "vit", Cause.WORTHLESS, "")) == (
        "Not clearly better than a constant prediction"
    )
    assert reason("F5") == "no clear gain over majority"
    assert problem_title(ProblemKey(1, "vit", Cause.HIDES, "")) == (
        "Accuracy far above other metrics"
    )
    assert reason("F11") == "a constant prediction costs no more"


@pytest.mark.parametrize(
    ("rule", "evidence", "text"),
    [
        ("F4", {"correct": 11, "actual": 16}, "recall 11 of 16"),
        ("F9", {"predicted": 30, "wrong": 25}, "precision 5 of 30"),
        ("F16", {"correct": 36, "cases": 40}, "36 of 40 correct"),
        ("F11", {"ratio": 1.92}, "1.92×"),
    ],
)
def test_a_value_says_what_was_counted(rule: str, evidence: dict[str, float], text: str) -> None:
    assert value_now(rule, evidence) == text
