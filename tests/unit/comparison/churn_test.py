"""Which samples changed."""

from __future__ import annotations

from offdiag.comparison.churn import Churn, PairedOutcome, churn_of, churn_of_classes
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
    churn = churn_of(JOINT)

    assert churn == Churn(both_right=54, only_a=7, only_b=3, both_wrong=3)
    assert churn.total == JOINT.total
    assert churn.to_dict() == {outcome.value: churn.of(outcome) for outcome in PairedOutcome}


def test_the_fates_of_the_classes_add_up() -> None:
    by_class = churn_of_classes(JOINT)

    assert by_class == (
        Churn(both_right=50, only_a=7, only_b=3, both_wrong=0),
        Churn(both_right=4, only_a=0, only_b=0, both_wrong=3),
        Churn(both_right=0, only_a=0, only_b=0, both_wrong=0),
    )
