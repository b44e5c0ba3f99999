"""What the page of a dataset says of more runs than are compared."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from offdiag.comparison.rank_status import Rank, RankStatus
from offdiag.domain.values import MetricValue
from offdiag.metrics.many_runs.best_runs import BestOfMany
from offdiag.services.champions.leaders import Leader, Leaders
from offdiag.store.ranked_runs import RankedRun
from offdiag_web.pages.datasets.contenders import rows_note
from offdiag_web.pages.datasets.verdict import drop_title, verdict_of


def leaders(*, total: int, lower_is_better: bool = False) -> Leaders:
    """Three compared runs of which the first leads, out of `total`."""
    now = datetime(2026, 11, 1, tzinfo=UTC)
    runs = [
        RankedRun(f"r_{at}", f"run {at}", None, now, at, True, MetricValue(0.9 - at / 10))
        for at in range(3)
    ]
    statuses = [RankStatus.BEST, RankStatus.BEHIND, RankStatus.BEHIND]
    found = tuple(
        Leader(run, Rank(run.value, status)) for run, status in zip(runs, statuses, strict=True)
    )
    return Leaders("mcc", lower_is_better, 1, found, total, 0)


def test_runs_that_were_not_compared_are_not_said_to_be_worse() -> None:
    assert (
        verdict_of(leaders(total=3), 3) == "run 0 leads: every other run is significantly lower."
    )
    assert (
        verdict_of(leaders(total=250), 250)
        == "run 0 leads: the next 2 runs are significantly lower."
    )
    others = replace(leaders(total=3), n_weighted=2)
    assert verdict_of(others, 5) == (
        "run 0 leads: every other run without sample weights is significantly lower."
    )


def with_chosen_here(found: Leaders) -> Leaders:
    """The same with two runs that are not compared, one of which is the second best."""
    now = datetime(2026, 11, 2, tzinfo=UTC)
    chosen = [
        Leader(
            RankedRun(name, name, None, now, 9, True, MetricValue(value), is_chosen_here=True),
            Rank(MetricValue(value), RankStatus.NOT_TESTED),
        )
        for name, value in (("chosen", 0.85), ("chosen too", 0.1))
    ]
    return replace(found, runs=(found.runs[0], *chosen, *found.runs[1:]), total=found.total + 2)


def test_runs_whose_threshold_was_chosen_here_are_not_said_to_be_worse() -> None:
    found = with_chosen_here(leaders(total=3))

    note = "2 runs are not compared: their thresholds were chosen on these examples."
    assert verdict_of(found, 5) == (f"run 0 leads: every other run is significantly lower. {note}")
    assert rows_note(found) == (
        "Next: run 1, 0.800. The set contains the best run with 95 % confidence, corrected for 3 "
        "runs."
    )
    assert verdict_of(with_chosen_here(leaders(total=248)), 250) == (
        f"run 0 leads: the next 2 runs are significantly lower. {note}"
    )
    alike = replace(found, runs=(*found.runs[:3], found.runs[0], found.runs[0]))
    assert verdict_of(alike, 5) == f"Each of 3 runs may be the best by MCC. {note}"
    two = replace(found, runs=(*found.runs[:3], found.runs[0], found.runs[4]))
    assert verdict_of(two, 5) == f"2 of 3 runs may be the best by MCC. {note}"


def test_runs_without_a_value_are_not_said_to_be_worse() -> None:
    assert verdict_of(leaders(total=3), 4) == (
        "run 0 leads: every other ranked run is significantly lower."
    )
    found = leaders(total=3)
    alike = replace(found, runs=found.runs[:1] * 3)
    assert verdict_of(alike, 4) == "Each of 3 ranked runs may be the best by MCC."
    assert verdict_of(alike, 3) == "Each of 3 runs may be the best by MCC."


@pytest.mark.parametrize(("lower_is_better", "word"), [(False, "highest"), (True, "lowest")])
def test_the_correction_is_for_the_runs_that_were_compared(
    *, lower_is_better: bool, word: str
) -> None:
    assert "corrected for 3 runs." in rows_note(leaders(total=3))

    note = rows_note(leaders(total=250, lower_is_better=lower_is_better))

    assert f"Only the 3 {word} of 250 runs were compared." in note
    assert "corrected for 250" not in note


def test_a_loss_that_gets_worse_rises() -> None:
    assert drop_title(leaders(total=3)) == "first significant drop"
    assert drop_title(leaders(total=3, lower_is_better=True)) == "first significant rise"


def test_runs_of_the_best_set_that_the_table_leaves_out_are_counted() -> None:
    found = leaders(total=3)
    best = found.runs[0]
    assert best.is_in_set

    alike = replace(found, runs=(best,) * 12)

    assert rows_note(alike).startswith("2 more are in the set. The set contains the best run")
    assert "more" not in rows_note(replace(found, runs=(best,) * 10))
    assert rows_note(replace(found, runs=(best,) * 11)).startswith("1 more is in the set. ")


def test_the_run_with_the_best_value_says_what_it_reaches_elsewhere() -> None:
    found = leaders(total=3)
    best = BestOfMany(0, 3, 0.9, MetricValue(0.8712))

    assert rows_note(found, best).endswith(
        "Chosen for its value among 3 runs, the first is expected to reach about 0.871 on new "
        "examples."
    )
    rare = replace(best, corrected=MetricValue(None, "too_few"))
    assert rows_note(found, rare).endswith("a class has too few examples to correct that.")
