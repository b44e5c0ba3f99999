from collections.abc import Callable

import pytest

from offdiag.services.what_if.costs import WhatIf
from offdiag_web.pages.what_if.heat import MOST_EXPENSIVE, heat_view

Ask = Callable[..., WhatIf]


def test_cells_add_up_to_the_cost_of_the_run(ask: Ask) -> None:
    found = ask([[8, 12], [5, 975]], edits="ill>well:20")

    view = heat_view(found, [0, 1], selected=[0])

    (table,) = view.tables
    assert table.total == "245.0"
    assert [[cell.text for cell in cells] for _, cells in table.lines] == [
        ["", "240.0"],
        ["5.0", ""],
    ]


def test_all_runs_share_one_scale(ask: Ask) -> None:
    found = ask([[8, 12], [5, 975]], [[18, 2], [5, 975]])

    view = heat_view(found, [0, 1], selected=[0, 1])

    steps = [table.lines[0][1][1].css for table in view.tables]
    assert steps == ["error-10", "error-2"]
    assert view.end == "12.00"


def test_what_is_too_little_to_show_is_a_dot_and_not_nothing(ask: Ask) -> None:
    found = ask([[0, 500_000], [1, 499_999]])

    (table,) = heat_view(found, [0, 1], selected=[0]).tables

    assert table.lines[1][1][0].text == "·"
    assert table.lines[0][1][0].text == ""


def test_gains_have_the_ramp_of_right_answers(ask: Ask) -> None:
    found = ask([[8, 2], [5, 85]], edits="well>well:-1")

    view = heat_view(found, [0, 1], selected=[0])

    assert view.has_gains
    assert view.tables[0].lines[1][1][1].css == "correct-10"


def test_many_cells_become_lists_of_the_dearest(ask: Ask) -> None:
    size = 30
    counts = [[i if i != j else 50 for j in range(size)] for i in range(size)]
    found = ask(counts, labels=[f"c{code}" for code in range(size)])

    view = heat_view(found, list(range(size)), selected=[0])

    assert view.tables == ()
    (listed,) = view.lists
    assert len(listed.cells) == MOST_EXPENSIVE
    assert {actual for actual, *_ in listed.cells} == {"c29"}


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_classes_stand_in_the_order_that_is_asked_for(ask: Ask, order: list[int]) -> None:
    (table,) = heat_view(ask([[8, 12], [5, 975]]), order, selected=[0]).tables

    assert [head.name for head, _ in table.lines] == [("ill", "well")[code] for code in order]
