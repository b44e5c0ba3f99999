"""A change is one only beyond an interval, whichever way the two values came about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from offdiag.domain.values import MetricValue
from offdiag.reports.changes import Origin, find_changes
from support.report_figures import UNDEFINED, run, value

METRICS = ("mcc",)
EARLY, LATE = datetime(2026, 11, 2, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC)


def test_a_run_with_the_same_inputs_is_not_even_compared() -> None:
    assert find_changes([run("a", 0.8)], [run("a", 0.8)], METRICS).n_compared == 0


@pytest.mark.parametrize(("now", "is_beyond"), [(0.8199, False), (0.8201, True), (0.7799, True)])
def test_a_rescored_run_changed_when_it_left_its_old_interval(now: float, is_beyond: bool) -> None:
    found = find_changes([run("a", 0.8, classes=())], [run("a", now, classes=())], METRICS)

    assert bool(found.beyond) is is_beyond
    assert found.n_compared == 1


def test_a_successor_is_compared_with_the_newest_run_of_its_name() -> None:
    before = [
        run("a", 0.5, id="r_1", logged_at=EARLY, classes=()),
        run("a", 0.8, id="r_2", logged_at=LATE, classes=()),
    ]
    after = [*before, run("a", 0.5, id="r_3", logged_at=LATE.replace(day=16), classes=())]

    (change,) = find_changes(before, after, METRICS).beyond

    assert (change.previous_run_id, change.run_id) == ("r_2", "r_3")
    assert change.origin is Origin.SUCCEEDED
    assert change.difference == pytest.approx(-0.3)


def test_only_the_newest_of_several_successors_is_compared() -> None:
    before = [run("a", 0.8, id="r_1", logged_at=EARLY, classes=())]
    after = [
        run("a", 0.1, id="r_2", logged_at=LATE, classes=()),
        run("a", 0.2, id="r_3", logged_at=LATE.replace(day=10), classes=()),
    ]

    found = find_changes(before, after, METRICS)

    assert [change.run_id for change in found.beyond] == ["r_3"]


def test_two_runs_that_overlap_a_little_may_still_differ() -> None:
    # 0.80 ± 0.02 and 0.83 ± 0.02 overlap, and yet the difference is 0.03 ± 0.0283.
    before = [run("a", 0.80, id="r_1", logged_at=EARLY, classes=())]
    after = [run("a", 0.83, id="r_2", logged_at=LATE, classes=())]

    (change,) = find_changes(before, after, METRICS).beyond

    assert change.low == pytest.approx(0.03 - 0.02 * 2**0.5)
    assert change.high == pytest.approx(0.03 + 0.02 * 2**0.5)


def test_the_more_values_are_compared_the_more_a_difference_of_runs_must_be() -> None:
    metrics = tuple(f"m{number}" for number in range(20))
    before, after = (
        [run("a", 0.8, id=run_id, logged_at=at, classes=(), metrics=dict.fromkeys(metrics, each))]
        for run_id, at, each in (("r_1", EARLY, value(0.80)), ("r_2", LATE, value(0.83)))
    )

    alone, together = (find_changes(before, after, keys) for keys in (metrics[:1], metrics))

    assert len(alone.beyond) == 1
    assert not together.beyond
    assert together.n_compared == 20


def test_without_an_interval_nothing_can_be_said() -> None:
    plain = MetricValue(0.8)

    found = find_changes(
        [run("a", 0.8, metrics={"mcc": plain}, classes=())],
        [run("a", 0.1, metrics={"mcc": MetricValue(0.1)}, classes=())],
        METRICS,
    )
    assert not found.beyond


def test_becoming_undefined_and_becoming_defined_are_changes() -> None:
    defined, undefined = run("a", 0.8, classes=()), run("a", 0.1, classes=())
    undefined = replace(undefined, metrics={"mcc": UNDEFINED})

    lost = find_changes([defined], [undefined], METRICS).beyond
    gained = find_changes([undefined], [defined], METRICS).beyond

    assert [change.difference for change in (*lost, *gained)] == [None, None]


def test_classes_are_matched_by_name_not_by_place() -> None:
    before, after = run("a", 0.8), run("a", 0.81)
    after = replace(after, classes=after.classes[::-1])

    assert not find_changes([before], [after], METRICS).beyond


def test_slices_are_compared_with_the_same_slice_only() -> None:
    before = [run("a", 0.8, classes=()), run("a", 0.5, slice="country=DE", classes=())]
    after = [run("a", 0.81, classes=()), run("a", 0.4, slice="country=DE", classes=())]

    (change,) = find_changes(before, after, METRICS).beyond

    assert change.slice == "country=DE"
