"""Changes to costs as text."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.edits import (
    CostEdits,
    cost_text,
    forgiven,
    group_names,
    groups_text,
    read_cost,
    read_edits,
    read_groups,
    with_cells,
    written,
)
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix, zero_one_costs
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.costs.what_if import merge_classes
from support.matrices import matrix_of

LABELS = LabelSet.declared(["nv", "mel", "bkl"])
COSTS = cost_matrix([[0, 1, 1], [10, 0, 8], [2, 4, 0]], labels=LABELS)


def applied(text: str, costs: CostMatrix = COSTS) -> list[list[float]]:
    return read_edits(text, costs).edits.applied(costs).weights.tolist()  # type: ignore[no-any-return]


def canonical(text: str, costs: CostMatrix = COSTS) -> str:
    return read_edits(text, costs).edits.text(costs.labels)


def test_a_cell_is_set() -> None:
    assert applied("mel>nv:20") == [[0, 1, 1], [20, 0, 8], [2, 4, 0]]


def test_the_errors_of_a_class_are_multiplied_and_its_right_answers_are_not() -> None:
    gains = cost_matrix([[-1, 1, 1], [10, -5, 8], [2, 4, 0]], labels=LABELS)

    assert applied("mel>*:x2", gains) == [[-1, 1, 1], [20, -5, 16], [2, 4, 0]]


def test_the_errors_that_answer_a_class_are_multiplied() -> None:
    assert applied("*>nv:x0.5") == [[0, 1, 1], [5, 0, 8], [1, 4, 0]]


def test_a_group_is_named_by_its_members_or_by_what_their_names_share() -> None:
    assert applied("bkl|mel>*:x2") == applied("*l>*:x2")
    assert applied("bkl|mel>*:x2") == [[0, 1, 1], [20, 0, 16], [4, 8, 0]]


def test_a_cell_that_is_set_is_not_multiplied() -> None:
    assert applied("mel>nv:3,mel>*:x2") == [[0, 1, 1], [3, 0, 16], [2, 4, 0]]


def test_the_same_changes_have_one_text() -> None:
    assert canonical(" bkl>nv:5.0, mel>bkl:1e1 ,mel|bkl>*:x2") == canonical(
        "bkl|mel>*:x2.0,mel>bkl:10,bkl>nv:7,bkl>nv:5"
    )
    assert canonical("bkl>nv:5,mel>bkl:9") == "mel>bkl:9,bkl>nv:5"


def test_what_changes_nothing_is_left_out() -> None:
    assert canonical("mel>nv:10,*>*:x1,bkl>nv:-0") == "bkl>nv:0"
    assert not read_edits("mel>nv:10", COSTS).edits


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mel>nv", "it is not written as actual>predicted:cost"),
        ("mel:3", "it is not written as actual>predicted:cost"),
        ("mel>nv:much", "'much' is not a cost"),
        ("mel>nv:1e999", "'1e999' is not a cost"),
        ("mel>nv:nan", "'nan' is not a cost"),
        ("mel>nv:0,5", "it is not written as actual>predicted:cost"),
        ("mel>*:x-2", "'-2' is not a factor"),
        ("mel>df:3", "there is no class df"),
        ("z*>nv:x3", "there is no class z*"),
        ("mel>*:3", "only a single cell can be set; write x before a factor for many"),
    ],
)
def test_what_means_nothing_is_named_with_the_reason(text: str, reason: str) -> None:
    found = read_edits(f"bkl>mel:7,{text}", COSTS)

    assert [why for _, why in found.problems] == [reason]
    assert (2, 1) in found.edits.cells


HOSTILE = (
    "a,b",
    "a>b",
    "a:x2",
    'say "so"',
    "back\\slash",
    "*",
    "a|b",
    " blank ",
    "",
    "a\nb",
    "[a]?",
)


def test_every_name_can_be_written() -> None:
    labels = LabelSet.declared(HOSTILE)
    size = len(labels)
    costs = CostMatrix(np.ones((size, size)), labels)
    weights = costs.weights.copy()
    weights[np.arange(size), (np.arange(size) + 3) % size] = np.arange(size) + 2

    edits = with_cells(CostEdits(), costs, dict(np.ndenumerate(weights)))

    read = read_edits(edits.text(labels), costs)
    assert read.problems == ()
    assert np.array_equal(read.edits.applied(costs).weights, weights)
    assert read.edits == edits


@pytest.mark.parametrize("name", HOSTILE)
def test_a_written_name_stands_for_itself_alone(name: str) -> None:
    labels = LabelSet.declared(HOSTILE)
    costs = CostMatrix(np.ones((len(labels), len(labels))), labels)

    found = read_edits(f"{written(name)}>*:x2", costs)

    assert [each.actual for each in found.edits.multiplications] == [(labels.index[name],)]


def test_cells_are_added_to_changes_and_taken_back() -> None:
    edits = read_edits("mel>*:x2,mel>nv:7", COSTS).edits

    more = with_cells(edits, COSTS, {(2, 0): 3.0, (1, 0): 20.0})

    assert more.text(LABELS) == "mel>*:x2,bkl>nv:3"


def test_the_cells_that_lead_to_other_costs() -> None:
    weights = np.array([[0, 1, 1], [10, 0, 8], [2, 4.5, -1]])

    edits = with_cells(CostEdits(), COSTS, dict(np.ndenumerate(weights)))

    assert edits == CostEdits(cells={(2, 1): 4.5, (2, 2): -1.0})


@pytest.mark.parametrize(
    ("cost", "text"),
    [(20.0, "20"), (0.1, "0.1"), (-3.0, "-3"), (1e-5, "1e-05"), (1e15, "1000000000000000")],
)
def test_a_cost_is_written_with_all_its_digits_and_no_others(cost: float, text: str) -> None:
    assert cost_text(cost) == text
    assert read_cost(text) == cost


@pytest.mark.parametrize("text", ["", "1,5", "0x10", "1_000", "inf", "1e16", "1e-16", "٣", "- 1"])
def test_what_is_no_cost_is_not_read(text: str) -> None:
    assert read_cost(text) is None


LABELS_WITH_A_BAR = LabelSet.declared(["nv", "mel", "bkl", "a|b"])


def test_groups_are_written_one_way() -> None:
    found = read_groups(' bkl|"a|b" ,mel|nv', LABELS_WITH_A_BAR)

    assert found.groups == ((0, 1), (2, 3))
    assert groups_text(found.groups, LABELS_WITH_A_BAR) == 'nv|mel,bkl|"a|b"'


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
    found = read_groups(f"mel|bkl,{text}", LABELS_WITH_A_BAR)

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
