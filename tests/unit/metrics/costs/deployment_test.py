"""Class shares at deployment."""

from __future__ import annotations

import pytest

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.deployment import completed, read_shares, shares_text
from support.matrices import matrix_of

LABELS = LabelSet.declared(["nv", "mel", 'say "df"'])
MATRIX = matrix_of([[60, 0, 0], [0, 30, 0], [0, 0, 10]])


def test_shares_are_written_one_way() -> None:
    found = read_shares(' "say \\"df\\"":1e-3 , nv:.90', LABELS)

    assert found.shares == {0: 0.9, 2: 0.001}
    assert shares_text(found.shares, LABELS) == 'nv:0.9,"say \\"df\\"":0.001'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nv", "it is not written as class:share"),
        ("df:0.1", "there is no such class"),
        ("nv:2", "a share is between 0 and 1"),
        ("nv:-0.1", "a share is between 0 and 1"),
        ("nv:half", "a share is between 0 and 1"),
    ],
)
def test_what_is_no_share_is_named_with_the_reason(text: str, reason: str) -> None:
    assert read_shares(text, LABELS).problems == ((text, reason),)


def test_the_other_classes_divide_the_rest_as_in_the_test_set() -> None:
    found = completed({2: 0.1}, MATRIX)

    assert not isinstance(found, str | None)
    assert found.tolist() == pytest.approx([0.6, 0.3, 0.1])
    assert completed({0: 0.1}, MATRIX).tolist() == pytest.approx(  # type: ignore[union-attr]
        [0.1, 0.675, 0.225]
    )


def test_shares_of_all_classes_are_taken_as_they_are() -> None:
    found = completed({0: 0.9, 1: 0.09, 2: 0.01}, MATRIX)

    assert found.tolist() == pytest.approx([0.9, 0.09, 0.01])  # type: ignore[union-attr]


def test_nothing_stated_changes_nothing() -> None:
    assert completed({}, MATRIX) is None


@pytest.mark.parametrize(
    ("shares", "reason"),
    [
        ({0: 0.9, 1: 0.2}, "the shares add up to 1.1"),
        (
            {0: 0.9, 1: 0.05, 2: 0.01},
            "the shares add up to 0.96, and no other class could have the rest",
        ),
    ],
)
def test_shares_that_cannot_be_are_explained(shares: dict[int, float], reason: str) -> None:
    assert completed(shares, MATRIX) == reason


def test_a_class_without_cases_cannot_be_expected() -> None:
    absent = matrix_of([[60, 3], [0, 0]])

    assert completed({1: 0.1}, absent) == "1 is expected to occur and has no cases here"
    assert completed({1: 0.0}, absent).tolist() == [1.0, 0.0]  # type: ignore[union-attr]
