"""Which samples changed."""

from __future__ import annotations

import numpy as np

from offdiag.comparison.churn import Churn, PairedOutcome, churn_by_class, churn_of
from support.comparisons import joint_of

JOINT = joint_of(
    [
        ("a", "a", "a", 50),
        ("a", "a", "b", 7),
        ("a", "b", "a", 3),
        ("b", "a", "a", 2),
        ("b", "c", "a", 1),
        ("b", "b", "b", 4),
    ],
    ("a", "b", "c"),
)


def test_every_case_has_one_fate() -> None:
    churn, _ = churn_of(JOINT)

    assert churn == Churn(both_right=54, only_a=7, only_b=3, both_wrong=3)
    assert churn.total == JOINT.total
    assert churn.to_dict() == {outcome.value: churn.of(outcome) for outcome in PairedOutcome}


def test_the_fates_of_the_classes_add_up() -> None:
    _, by_class = churn_of(JOINT)

    assert by_class == (
        Churn(both_right=50, only_a=7, only_b=3, both_wrong=0),
        Churn(both_right=4, only_a=0, only_b=0, both_wrong=3),
        Churn(both_right=0, only_a=0, only_b=0, both_wrong=0),
    )


def test_samples_are_counted_by_class_and_by_which_run_is_right() -> None:
    first = np.array([True, True, False, False, True])
    second = np.array([True, False, True, False, False])
    actual = np.array([0, 0, 0, 2, 2], np.uint8)

    found = churn_by_class(actual, first, second, n_classes=3)

    assert found == (
        Churn(1, 2, 1, 1),
        (Churn(1, 1, 1, 0), Churn(0, 0, 0, 0), Churn(0, 1, 0, 1)),
    )
