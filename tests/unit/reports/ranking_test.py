"""Places of runs, and whose place changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from offdiag.reports.ranking import rank_changes, ranked, ranks
from support.report_figures import UNDEFINED, run, value

METRIC = "balanced_accuracy"


def test_higher_values_come_first() -> None:
    runs = [run("low", 0.1), run("high", 0.9), run("middle", 0.5)]

    assert [each.name for each in ranked(runs, METRIC)] == ["high", "middle", "low"]


def test_of_losses_lower_values_come_first() -> None:
    runs = [
        run("low", 0.1, metrics={"log_loss": value(0.1)}),
        run("high", 0.9, metrics={"log_loss": value(0.9)}),
    ]

    assert [each.name for each in ranked(runs, "log_loss")] == ["low", "high"]


def test_undefined_values_come_last_and_have_no_place() -> None:
    runs = [replace(run("a", 0.9), metrics={METRIC: UNDEFINED}), run("b", 0.1)]

    assert [each.name for each in ranked(runs, METRIC)] == ["b", "a"]
    assert ranks(runs, METRIC) == {"r_b": 1}


def test_equal_values_share_a_place() -> None:
    runs = [run("a", 0.5), run("b", 0.5), run("c", 0.4)]

    assert ranks(runs, METRIC) == {"r_a": 1, "r_b": 1, "r_c": 3}


def test_equal_values_are_listed_newest_first() -> None:
    newer = run("b", 0.5, logged_at=datetime(2026, 11, 2, tzinfo=UTC))

    assert [each.name for each in ranked([run("a", 0.5), newer], METRIC)] == ["b", "a"]


def test_places_count_among_the_runs_of_both_reports() -> None:
    before = [run("a", 0.9), run("b", 0.8), run("gone", 0.85)]
    after = [run("a", 0.7), run("b", 0.8), run("new", 0.95)]

    changes = rank_changes(before, after, [METRIC])

    assert [(each.run_name, each.before, each.after) for each in changes] == [
        ("b", 2, 1),
        ("a", 1, 2),
    ]
