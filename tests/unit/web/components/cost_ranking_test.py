from collections.abc import Callable
from dataclasses import replace

import pytest

from offdiag.domain.values import MetricValue
from offdiag.services.what_if.costs import WhatIf
from offdiag_web.components.costs.ranking import (
    constant_sentence,
    moved_text,
    rank_sentence,
    ranking,
)
from offdiag_web.urls.costs import WhatIfAddress
from support.optional import present

Ask = Callable[..., WhatIf]

CAREFUL = [[18, 2], [60, 920]]
SLOPPY = [[8, 12], [5, 975]]
ALMOST_SLOPPY = [[8, 12], [6, 974]]
ALWAYS_WELL = [[0, 20], [0, 980]]


@pytest.mark.parametrize(
    ("rank", "before", "text"),
    [(5, 8, "↑\N{NO-BREAK SPACE}3"), (4, 1, "↓\N{NO-BREAK SPACE}3"), (2, 2, ""), (None, 1, "")],
)
def test_a_place_says_how_it_moved(rank: int | None, before: int, text: str) -> None:
    assert moved_text(rank, before) == text


def test_runs_that_do_not_are_not(ask: Ask) -> None:
    found = ask(SLOPPY, ALMOST_SLOPPY, CAREFUL)

    assert rank_sentence(found) == (
        "A “run 0” costs least on these examples. B shows no significant difference from it. "
        "C costs significantly more."
    )


def test_costs_that_only_rounding_tells_apart_are_the_same(ask: Ask) -> None:
    # One miss at 0.3 costs what three false alarms at 0.1 do, which floats add up to more.
    missing, alarming = [[19, 1], [0, 980]], [[20, 0], [3, 977]]

    found = ask(missing, alarming, CAREFUL, edits="ill>well:0.3,well>ill:0.1")

    assert found.answers[0].mean.value != found.answers[1].mean.value
    assert [each.rank for each in found.answers] == [1, 1, 3]
    assert [each.place.verdict for each in found.answers[:2]] == ["cheapest", "cheapest"]
    assert rank_sentence(found).startswith("A and B share the lowest cost on these examples.")


def test_the_interval_of_a_difference_counts_all_runs_and_decides(ask: Ask) -> None:
    # Alone five errors more are beyond chance, among six runs they are not.
    perfect, worse = [[20, 0], [0, 980]], [[20, 0], [5, 975]]
    others = [[[20 - k, k], [0, 980]] for k in (1, 2, 3, 4)]

    alone = ask(perfect, worse).answers[1].place
    among = ask(perfect, worse, *others).answers[1].place

    assert (alone.verdict, among.verdict) == ("dearer", "open")
    assert present(among.behind.ci_low) < 0 < present(alone.behind.ci_low)


def test_at_other_class_shares_a_class_of_few_cases_is_not_tested(ask: Ask) -> None:
    few, fewer = [[3, 0], [5, 975]], [[0, 3], [5, 975]]

    found = ask(few, fewer, shares="ill:0.5")

    assert found.answers[1].place.verdict == "not tested"
    assert rank_sentence(found).endswith("B cannot be tested: a class has fewer than 5 examples.")
    assert ask(few, fewer).answers[1].place.verdict == "open"


def test_runs_that_cannot_be_paired_are_said_to_be_so(ask: Ask) -> None:
    found = ask(SLOPPY, CAREFUL, paired=False)

    assert rank_sentence(found).endswith(
        "B cannot be paired with it by example, so whether the difference is chance is not known."
    )


def test_a_single_run_has_no_rivals(ask: Ask) -> None:
    assert rank_sentence(ask(SLOPPY)) == "A “run 0” is the only run here."


def test_runs_no_better_than_a_constant_answer_are_named(ask: Ask) -> None:
    assert constant_sentence(ask(CAREFUL, SLOPPY, ALWAYS_WELL)) == (
        "On these examples A and C cost no less than always predicting “well”."
    )
    assert constant_sentence(ask(SLOPPY)) is None
    as_much = "On these examples A costs as much as always predicting “well”."
    assert constant_sentence(ask(ALWAYS_WELL)) == as_much
    # At these shares floats make the run a little cheaper or more expensive.
    for ill, well, share in ((7, 31, 0.37), (20, 981, 0.4)):
        found = ask([[0, ill], [0, well]], shares=f"ill:{share}")
        assert constant_sentence(found) == as_much


def test_a_run_is_held_against_the_constant_answer_to_its_own_examples(ask: Ask) -> None:
    # Half of the examples of B are ill, so always predicting "well" costs 0.5 there, not 0.2.
    found = ask([[15, 5], [5, 75]], [[35, 15], [15, 35]], paired=False)

    assert present(found.constant).mean == 0.2
    assert constant_sentence(found) is None


def test_the_scale_reaches_a_constant_prediction_that_costs_less(ask: Ask) -> None:
    less, more = (
        ranking(found, WhatIfAddress()) for found in (ask(CAREFUL), ask([[20, 0], [1, 979]]))
    )

    assert (less.ends[0], present(less.constant).drawn) == ("20", "dashed")
    assert present(more.constant).drawn == "above the scale"


def test_the_scale_of_a_run_without_costs_and_interval_reaches_to_the_constant_prediction(
    ask: Ask,
) -> None:
    found = ask([[20, 0], [0, 980]])
    (perfect,) = found.answers
    too_large = replace(perfect, mean=MetricValue(perfect.mean.value))

    alone = ranking(replace(found, answers=(too_large,)), WhatIfAddress())
    with_interval = ranking(found, WhatIfAddress())

    assert (alone.ends[0], present(alone.constant).drawn) == ("0", "dashed")
    assert with_interval.constant is not None
    assert (with_interval.ends[0], with_interval.constant.drawn) == ("0", "above the scale")


def test_a_row_carries_what_the_browser_adds_up(ask: Ask) -> None:
    found = ask(SLOPPY, edits="ill>well:0.1")

    (row,) = ranking(found, WhatIfAddress(("r_0",))).rows

    assert row.cells == "0:8 1:12 2:5 3:975"
    assert row.n_cases == 1000
    assert float(row.total) == found.answers[0].total.value


def test_at_other_class_shares_the_browser_gets_weighted_cases(ask: Ask) -> None:
    found = ask(SLOPPY, shares="ill:0.5")

    (row,) = ranking(found, WhatIfAddress(("r_0",))).rows

    cases = [float(cell.split(":")[1]) for cell in row.cells.split()]
    assert sum(cases[:2]) == pytest.approx(500)
