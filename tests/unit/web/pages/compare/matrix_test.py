"""Cells of a difference matrix: sign, notch, border, and never a 0 for what is not nothing."""

from __future__ import annotations

import pytest

from offdiag_web.pages.compare.pair import DifferenceCell, difference_matrix, largest_changes
from support.comparisons import Triple, pair_of

LABELS = ("ant", "bee", "cat")
CASES: list[Triple] = [
    ("ant", "ant", "ant", 900),
    ("ant", "ant", "bee", 1),
    ("ant", "bee", "ant", 99),
    ("bee", "bee", "bee", 50),
    ("bee", "bee", "cat", 50),
    ("cat", "cat", "cat", 10),
]


def cells(cases: list[Triple] = CASES) -> dict[tuple[str, str], DifferenceCell]:
    matrix = difference_matrix(pair_of(cases, LABELS))
    return {
        (row.head.name, head.name): cell
        for row in matrix.rows
        for head, cell in zip(matrix.heads, row.cells, strict=True)
    }


def test_more_right_answers_are_better_and_more_errors_worse() -> None:
    found = cells()

    assert found["ant", "ant"].css.split() == ["correct-4", "diagonal", "certain"]
    assert found["ant", "bee"].css.split() == ["correct-4", "certain"]
    assert found["bee", "cat"].css.split() == ["error-10", "worse", "certain"]
    assert found["bee", "bee"].css.split() == ["error-10", "diagonal", "worse", "certain"]


def test_a_cell_says_points_cases_and_its_look_in_words() -> None:
    cell = cells()["bee", "cat"]

    assert (cell.share, cell.count) == ("+50", "+50")
    assert cell.words == "worse, significant"


def test_what_did_not_move_is_a_plain_zero() -> None:
    cell = cells()["cat", "ant"]

    assert (cell.share, cell.count, cell.css, cell.words) == ("0", None, "zero", None)


def test_a_small_change_is_not_written_as_nothing() -> None:
    found = cells([("ant", "ant", "ant", 999), ("ant", "ant", "bee", 1), ("bee", "bee", "bee", 9)])

    assert (found["ant", "bee"].share, found["ant", "bee"].count) == ("+<1", "+1")
    assert found["ant", "ant"].share == "−<1"
    assert "certain" not in found["ant", "ant"].css


def test_moves_that_cancel_are_no_change() -> None:
    found = cells([("ant", "ant", "bee", 5), ("ant", "bee", "ant", 5), ("cat", "cat", "cat", 5)])

    assert found["ant", "ant"].share == "0"
    assert found["ant", "ant"].css == "zero diagonal"


def test_the_end_of_the_scale_is_the_largest_change() -> None:
    matrix = difference_matrix(pair_of(CASES, LABELS))

    assert matrix.end == "50 pp"
    assert difference_matrix(pair_of([("ant", "ant", "ant", 5)], LABELS)).end is None


def test_largest_changes_come_first_and_cancelled_ones_not_at_all() -> None:
    found = largest_changes(pair_of(CASES, LABELS))

    assert [each.count for each in found] == ["+98", "−98", "−50", "+50"]
    assert [(each.actual.name, each.predicted.name) for each in found[2:]] == [
        ("bee", "bee"),
        ("bee", "cat"),
    ]
    assert found[0].is_correct
    assert found[0].verdict == "better, significant"


@pytest.mark.parametrize("n_classes", [30, 31])
def test_many_classes_are_a_window_of_those_that_changed(n_classes: int) -> None:
    labels = [f"c{code:02}" for code in range(n_classes)]
    cases: list[Triple] = [(name, name, name, 3) for name in labels]
    cases.append((labels[-1], labels[-1], labels[-2], 2))

    matrix = difference_matrix(pair_of(cases, labels))

    names = [head.name for head in matrix.heads]
    assert len(names) == (30 if n_classes == 30 else 12)
    assert {labels[-1], labels[-2]} <= set(names)
