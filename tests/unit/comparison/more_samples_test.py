"""How many examples would settle what a comparison leaves open."""

from __future__ import annotations

import pytest

from offdiag.comparison.more_samples import (
    Undecided,
    more_samples_sentence,
    points_text,
    undecided_among,
    undecided_pair,
)
from offdiag.metrics.paired.sample_size import samples_needed
from support.comparisons import BOTH_RIGHT, Triple, pair_of
from unit.comparison.many_test import BAD, EQUALLY_GOOD, GOOD, compared

AT_ODDS: tuple[Triple, ...] = (("yes", "yes", "no", 8), ("yes", "no", "yes", 7))


@pytest.mark.parametrize(
    ("only_each", "n", "said"),
    [
        (
            25,
            500,
            (
                "About 2,000 labelled examples in all (1,500 to 2,500) would settle a difference "
                "of 2 points in accuracy between A and B; the present 500 settle one of 4 points."
            ),
        ),
        (
            500,
            10_000,
            (
                "The present 10,000 labelled examples settle a difference of 2 points in accuracy "
                "between A and B, and even one of 0.9 points."
            ),
        ),
        (
            0,
            2,
            (
                "About 390 labelled examples in all (390 to 13,000) would settle a difference "
                "of 2 points in accuracy between A and B."
            ),
        ),
    ],
)
def test_the_sentence_names_the_examples_and_what_the_present_ones_settle(
    only_each: int, n: int, said: str
) -> None:
    found = samples_needed(only_each, only_each, n, difference=0.02)

    assert more_samples_sentence(Undecided(0, 1, found)) == said


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.01, "1 point"), (0.025, "2.5 points"), (0.0002, "0.02 points"), (1.0, "100 points")],
)
def test_differences_are_told_in_points(share: float, text: str) -> None:
    assert points_text(share) == text


@pytest.mark.parametrize(
    "triples",
    [
        pytest.param([*BOTH_RIGHT, ("yes", "yes", "no", 20)], id="one is worse"),
        pytest.param(BOTH_RIGHT, id="same answers"),
    ],
)
def test_a_decided_pair_needs_no_samples(triples: list[Triple]) -> None:
    assert undecided_pair(pair_of(triples)) is None


def test_an_undecided_pair_counts_what_only_one_run_gets_right() -> None:
    found = undecided_pair(pair_of([*BOTH_RIGHT, *AT_ODDS]), difference=0.05)

    assert found == Undecided(0, 1, samples_needed(8, 7, 135, difference=0.05))


def test_of_several_runs_the_highest_is_told_from_the_nearest() -> None:
    found = undecided_among(compared(BAD, EQUALLY_GOOD, GOOD))

    assert found is not None
    assert (found.first, found.second) == (2, 1)
    assert undecided_among(compared(BAD, GOOD)) is None
