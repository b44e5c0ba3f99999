"""Problems in a few words."""

from __future__ import annotations

import pytest

from offdiag.flags.problem_words import problem_title, value_now
from offdiag.flags.problems import Cause, ProblemKey


@pytest.mark.parametrize(
    ("class_label", "title"),
    [("df", "df missed"), ("8", "“8” missed"), ("not found", "“not found” missed")],
)
def test_a_class_is_quoted_where_its_name_reads_as_something_else(
    class_label: str, title: str
) -> None:
    assert problem_title(ProblemKey(1, "vit", Cause.MISSED, class_label)) == title


def test_a_ratio_of_costs_is_written_as_in_what_if() -> None:
    assert value_now("F11", {"ratio": 1.92}) == "1.92×"
