"""Other readings of the same predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.what_if import at_prevalence, merge_classes, other_positive_class, ranks
from offdiag.metrics.suite import evaluate_stack
from support.published_matrices import SCREENING, THREE_CLASSES


def matrix(cells: list[list[int]], *names: str, ordinal: bool = False) -> ConfusionMatrix:
    return ConfusionMatrix(np.array(cells), LabelSet(names, ordinal=ordinal))


def test_the_other_positive_class_comes_first_with_its_own_counts() -> None:
    screening = matrix(SCREENING, "ill", "healthy")

    other = other_positive_class(screening)

    assert other.labels.names == ("healthy", "ill")
    assert other.counts.tolist() == [[9700, 200], [20, 80]]
    recall = evaluate_stack(other.counts, ordinal=False).per_class["recall"]
    assert recall.at(0).value == pytest.approx(9700 / 9900)


def test_three_classes_have_no_other_positive_class() -> None:
    with pytest.raises(InvalidInput, match="there are 3 classes"):
        other_positive_class(matrix(THREE_CLASSES, "A", "B", "C"))


@pytest.mark.parametrize("prevalence", [{"ill": 0.5, "healthy": 0.5}, [0.5, 0.5]])
def test_another_prevalence_moves_precision_and_leaves_recall(prevalence: Any) -> None:
    screening = matrix(SCREENING, "ill", "healthy")

    balanced = at_prevalence(screening, prevalence)

    before = evaluate_stack(screening.counts, ordinal=False)
    after = evaluate_stack(balanced, ordinal=False)
    for key in ("recall", "specificity", "informedness"):
        assert after.per_class[key].at(0).value == pytest.approx(before.per_class[key].at(0).value)
    assert after.aggregate["n"].at().value == pytest.approx(10_000)
    assert after.per_class["prevalence"].at(0).value == pytest.approx(0.5)
    expected = 0.8 / (0.8 + 200 / 9900)
    assert after.per_class["precision"].at(0).value == pytest.approx(expected)
    assert after.aggregate["mcc"].at().value == pytest.approx(0.793, abs=5e-4)


def test_the_prevalence_at_hand_changes_nothing() -> None:
    read = matrix(THREE_CLASSES, "A", "B", "C")

    same = at_prevalence(read, {"A": 0.8, "B": 0.15, "C": 0.05})

    np.testing.assert_allclose(same, read.counts)


def test_a_class_with_share_zero_drops_out() -> None:
    read = matrix(THREE_CLASSES, "A", "B", "C")

    without_c = at_prevalence(read, {"A": 0.5, "B": 0.5, "C": 0.0})

    assert without_c[2].tolist() == [0.0, 0.0, 0.0]
    assert without_c.sum() == pytest.approx(100)


def test_an_absent_class_cannot_be_given_a_share() -> None:
    absent = matrix([[5, 1], [0, 0]], "seen", "unseen")

    with pytest.raises(InvalidInput, match="class 'unseen' is expected to occur") as refusal:
        at_prevalence(absent, [0.5, 0.5])

    assert refusal.value.field == "prevalence"
    assert at_prevalence(absent, [1.0, 0.0]).tolist() == [[5.0, 1.0], [0.0, 0.0]]


def test_confusions_inside_a_group_are_no_errors_any_more() -> None:
    read = matrix(THREE_CLASSES, "A", "B", "C")

    merged = merge_classes(read, {"rare": ["B", "C"]})

    assert merged.labels.names == ("A", "rare")
    assert merged.counts.tolist() == [[72, 8], [10, 10]]
    assert merged.total == read.total


def test_a_merged_class_stands_where_its_first_member_stood() -> None:
    read = matrix(THREE_CLASSES, "A", "B", "C")

    merged = merge_classes(read, {"A": ["A", "C"]})

    assert merged.labels.names == ("A", "B")
    assert merged.counts.tolist() == [[78, 7], [9, 6]]


def test_merging_in_steps_or_at_once_is_the_same() -> None:
    cells = np.arange(16).reshape(4, 4).tolist()
    read = matrix(cells, "a", "b", "c", "d")

    at_once = merge_classes(read, {"rest": ["b", "c", "d"]})
    in_steps = merge_classes(merge_classes(read, {"bc": ["b", "c"]}), {"rest": ["bc", "d"]})

    assert at_once.digest == in_steps.digest


@pytest.mark.parametrize(
    ("members", "stays_ordinal"), [(["low", "mid"], True), (["low", "high"], False)]
)
def test_an_order_survives_the_merging_of_neighbours_only(
    members: list[str], stays_ordinal: bool
) -> None:
    read = matrix(THREE_CLASSES, "low", "mid", "high", ordinal=True)

    merged = merge_classes(read, {"merged": members})

    assert merged.labels.ordinal == stays_ordinal


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"x": ["A", "Z"]}, "'Z' is not one of the 3 declared labels"),
        ({"x": ["A"], "y": ["A", "B"]}, "'A' is named twice"),
        ({"x": ["A", "A"]}, "'A' is named twice"),
        ({"x": []}, "group 'x' is empty"),
        ({"C": ["A", "B"]}, "'C' names a group but is not in it"),
    ],
)
def test_groups_that_cannot_be_meant_are_refused(groups: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refusal:
        merge_classes(matrix(THREE_CLASSES, "A", "B", "C"), groups)

    assert refusal.value.field == "groups"


def test_the_lowest_value_comes_first() -> None:
    assert ranks([3.0, 1.0, 2.0]) == (3, 1, 2)


def test_the_highest_value_comes_first_if_asked() -> None:
    assert ranks([3.0, 1.0, 2.0], descending=True) == (1, 3, 2)


def test_equal_values_share_the_better_place() -> None:
    assert ranks([2.0, 1.0, 2.0, 5.0]) == (2, 1, 2, 4)


def test_an_undefined_value_has_no_place_and_takes_none() -> None:
    assert ranks([None, 1.0, 2.0]) == (None, 1, 2)
