"""Classes as people list them and as heads name them."""

from __future__ import annotations

import pytest

from offdiag.audit.table_text.classes import (
    ClassFacts,
    class_name,
    count_behind,
    distinct,
    place_of,
    read_classes,
)
from offdiag.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("A 80, B 15, C 5", ClassFacts(("A", "B", "C"), (80, 15, 5))),
        ("A=80,B=15", ClassFacts(("A", "B"), (80, 15))),
        ("Class A (80); Class B (15)", ClassFacts(("Class A", "Class B"), (80, 15))),
        ("ill 100, well 9,900", ClassFacts(("ill", "well"), (100, 9900))),
        ("100 positive, 9,900 negative", ClassFacts(("positive", "negative"), (100, 9900))),
        ("80, 15, 5", ClassFacts(("1", "2", "3"), (80, 15, 5))),
        ("3 x 1000", ClassFacts(("1", "2", "3"), (1000, 1000, 1000))),
        ("A, B", ClassFacts(("A", "B"))),
    ],
)
def test_lists_of_classes_are_read(text: str, facts: ClassFacts) -> None:
    assert read_classes(text) == facts
    assert read_classes(facts.written()) == facts


def test_no_list_is_no_class() -> None:
    assert read_classes(" \n") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A 80, B", "does not list"),
        ("A 80, A 15", "occurs more than once"),
        (", ;", "does not list"),
        ("1, " * 61, "61 classes"),
        ("x" * 200, "is not a class"),
    ],
)
def test_what_lists_no_classes_is_refused(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        read_classes(text)

    assert caught.value.hint or caught.value.field == "labels"


@pytest.mark.parametrize(
    ("head", "name", "count"),
    [
        ("Actual: Class 1", "Class 1", None),
        ("Predicted A (80)", "A", 80),
        ("Class B (n = 15)", "Class B", 15),
        ("(80)", "(80)", 80),
        ("True +", "+", None),
    ],
)
def test_a_head_names_a_class_and_may_count_it(head: str, name: str, count: int | None) -> None:
    assert class_name(head) == name
    assert count_behind(head) == count


@pytest.mark.parametrize(
    ("head", "place"),
    [
        ("Class 2 (y = 1)", 1),
        ("1 (Class 2)", 1),
        ("Actual 2 (Class 3)", 2),
        ("Class 1", 0),
        ("7", None),
        ("", None),
    ],
)
def test_heads_in_other_words_mean_the_same_class(head: str, place: int | None) -> None:
    assert place_of(head, ("0 (Class 1)", "1 (Class 2)", "2 (Class 3)")) == place


def test_class_words_do_not_count() -> None:
    assert place_of("Class A (80)", ("A", "B")) == 0
    assert place_of("+", ("negative", "positive")) == 1


def test_heads_that_mean_the_same_are_one_class() -> None:
    assert distinct(["A", "Class A (80)", "B", "Actual B"]) == ["A", "B"]
