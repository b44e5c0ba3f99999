"""Declared prevalence."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.what_if import completed, declared_prevalence, read_shares, shares_text
from support.matrices import matrix_of

HAM_AND_SPAM = LabelSet(("ham", "spam"))


@pytest.mark.parametrize("given", [[0.9, 0.1], {"spam": 0.1, "ham": 0.9}, (0.9000001, 0.1)])
def test_shares_come_in_label_order_and_add_up_to_one(given: Any) -> None:
    found = declared_prevalence(given, labels=HAM_AND_SPAM)

    assert found == pytest.approx([0.9, 0.1], abs=1e-6)
    assert found.sum() == pytest.approx(1.0, abs=1e-15)


def test_a_series_is_read_by_its_index() -> None:
    shares = pd.Series(["spam"] + ["ham"] * 9).value_counts(normalize=True)
    digits = LabelSet.declared([1, 0])

    found = [
        declared_prevalence(pd.Series([0.1, 0.9], ["spam", "ham"]), labels=HAM_AND_SPAM),
        declared_prevalence(shares[::-1], labels=HAM_AND_SPAM),
        declared_prevalence(pd.Series([0.1, 0.9]), labels=digits),
        # Without names of classes, its order is that of the labels.
        declared_prevalence(pd.Series([0.9, 0.1]), labels=HAM_AND_SPAM),
    ]

    assert [each.tolist() for each in found] == [[0.9, 0.1]] * 4


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (pd.Series([0.9, 0.1], ["ham", "eggs"]), "'eggs' is not among both"),
        (pd.Series([0.5, 0.4, 0.1], ["ham", "spam", "ham"]), "a label more than once"),
        ([0.9, 0.2], "the shares add up to 1.1"),
        ([0.5, 0.500002], "the shares add up to 1.000002"),
        ([0.5], r"the shape is \(1,\) for 2 classes"),
        ([1.2, -0.2], "is not between 0 and 1"),
        ([float("nan"), 1.0], "is not between 0 and 1"),
        ({"ham": 1.0}, "'spam' is not among both"),
        ({"ham": 0.5, "spam": 0.4, "eggs": 0.1}, "'eggs' is not among both"),
        ({"ham": None, "spam": 1.0}, "is not numeric"),
    ],
)
def test_what_is_no_prevalence_is_refused(given: Any, text: str) -> None:
    with pytest.raises(InvalidInput, match=text) as caught:
        declared_prevalence(given, labels=HAM_AND_SPAM)

    assert caught.value.field == "prevalence"


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

    assert completed({1: 0.1}, absent) == "1 is expected to occur and has no examples here"
    assert completed({1: 0.0}, absent).tolist() == [1.0, 0.0]  # type: ignore[union-attr]
