"""Classes that need not be told apart."""

from __future__ import annotations

import pytest

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.groups import forgiven, group_names, groups_text, read_groups
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.costs.presets import zero_one_costs
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.what_if import merge_classes
from support.matrices import matrix_of

LABELS = LabelSet.declared(["nv", "mel", "bkl", "a|b"])


def test_groups_are_written_one_way() -> None:
    found = read_groups(' bkl|"a|b" ,mel|nv', LABELS)

    assert found.groups == ((0, 1), (2, 3))
    assert groups_text(found.groups, LABELS) == 'nv|mel,bkl|"a|b"'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nv", "a group is written as class|class"),
        ("nv>mel", "a group is written as class|class"),
        ("nv|df", "it names a class that does not exist"),
        ("nv|nv", "a class belongs to one group, once"),
        ("nv|bkl", "a class belongs to one group, once"),
    ],
)
def test_what_is_no_group_is_named_with_the_reason(text: str, reason: str) -> None:
    found = read_groups(f"mel|bkl,{text}", LABELS)

    assert found.groups == ((1, 2),)
    assert found.problems == ((text, reason),)


def test_confusions_inside_a_group_cost_what_the_right_answer_costs() -> None:
    labels = LabelSet.declared(["a", "b", "c"])
    costs = cost_matrix([[-1, 2, 3], [4, 0, 5], [6, 7, 0]], labels=labels)

    found = forgiven(costs, ((0, 1),))

    assert found.weights.tolist() == [[-1, -1, 3], [0, 0, 5], [6, 7, 0]]


def test_forgiven_errors_are_those_that_merged_classes_do_not_have() -> None:
    matrix = matrix_of([[8, 2, 1], [3, 9, 0], [1, 4, 7]])
    groups = ((0, 1),)
    merged = merge_classes(matrix, group_names(groups, matrix.labels))

    total = evaluate_costs(matrix.counts, forgiven(zero_one_costs(matrix.labels), groups).weights)[
        "total_cost"
    ].at()

    assert total.value == merged.total - sum(merged.counts.diagonal())


def test_a_group_never_has_the_name_of_a_class() -> None:
    labels = LabelSet.declared(["a", "b", "a or b"])

    assert group_names(((0, 1),), labels) == {"a or b merged": ["a", "b"]}
