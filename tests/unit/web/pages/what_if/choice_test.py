from collections.abc import Callable

import pytest

from offdiag.metrics.costs.break_even import HIGHEST, LOWEST, Stretch
from offdiag.services.what_if.costs import WhatIf
from offdiag_web.pages.what_if.choice import (
    choice_view,
    flip_sentence,
    lever_choices,
    lever_sentence,
    multiple,
    verdict,
)
from support.optional import present

Ask = Callable[..., WhatIf]

CAREFUL = [[18, 2], [60, 920]]
SLOPPY = [[8, 12], [5, 975]]


def test_the_sentence_names_each_choice_and_where_it_begins() -> None:
    stretches = [
        Stretch(LOWEST, 4.6, (0,)),
        Stretch(4.6, 58.4, (3, 1)),
        Stretch(58.4, HIGHEST, (2,)),
    ]

    assert flip_sentence(stretches, "ABCD") == (
        "Up to 4.6×: A cheapest; from 4.6×: D and B; from 58.4×: C."
    )


@pytest.mark.parametrize(("cheapest", "runs"), [((1,), "B is"), ((0, 2), "A and C are")])
def test_a_choice_that_never_flips_is_said_to_be_so(cheapest: tuple[int, ...], runs: str) -> None:
    assert flip_sentence([Stretch(LOWEST, HIGHEST, cheapest)], "ABC") == (
        f"{runs} cheapest at every multiple: the choice does not change."
    )


@pytest.mark.parametrize(
    ("x", "text"),
    [(4.6, "4.6×"), (0.0001, "0.0001×"), (1234567.0, "1,234,567×"), (58.44, "58.4×"), (1, "1×")],
)
def test_multiples_are_written_without_an_exponent(x: float, text: str) -> None:
    assert multiple(x) == text


def test_one_example_is_not_called_unpaired(ask: Ask) -> None:
    assert verdict(ask([[1, 0], [0, 0]], [[0, 1], [0, 0]])) == (
        "There is one example, so whether one costs significantly less is not known."
    )


def test_the_view_says_where_the_choice_flips(ask: Ask) -> None:
    view = present(choice_view(ask(SLOPPY, CAREFUL)))

    assert view.sentence == "Up to 5.5×: A cheapest; from 5.5×: B."
    assert view.rows == (("0.0001×", "5.5×", "A"), ("5.5×", "1,000,000×", "B"))
    assert view.what == (
        "The cost of predicting “well” for actual “ill”, as a multiple of the opposite error, "
        "“well” predicted as “ill” (1). Now 1×."
    )


def test_a_lever_on_a_class_is_said_to_be_one(ask: Ask) -> None:
    found = ask(SLOPPY, CAREFUL, lever="ill>*")

    assert lever_sentence(present(found.scenario.lever), found.scenario.costs) == (
        "Multiplies the costs of all errors on “ill” in the table; other costs stay. Now 1×."
    )


def test_a_unit_that_is_not_the_opposite_error_is_said_to_be_another(ask: Ask) -> None:
    three = [[8, 1, 1], [2, 7, 1], [1, 1, 8]]
    found = ask(three, three, labels="abc", edits="b>a:0", lever="a>b")

    assert "the cheapest other error (1)" in lever_sentence(
        present(found.scenario.lever), found.scenario.effective
    )


def test_one_run_leaves_no_choice(ask: Ask) -> None:
    assert choice_view(ask(SLOPPY)) is None


def test_prices_to_move_are_those_of_errors_that_were_made(ask: Ask) -> None:
    found = ask([[8, 0], [5, 975]], [[8, 0], [0, 980]])

    options = lever_choices(found, [1, 0])

    assert [(option.value, option.is_chosen) for option in options] == [
        ("", True),
        ("well>ill", False),
        ("well>*", False),
        ("ill>*", False),
    ]


def test_a_price_that_somebody_chose_is_held(ask: Ask) -> None:
    found = ask(SLOPPY, CAREFUL, lever="well>*")

    assert [o.value for o in lever_choices(found, [0, 1]) if o.is_chosen] == ["well>*"]
