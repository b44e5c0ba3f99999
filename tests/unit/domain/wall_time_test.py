"""Wall times and instants on the days on which clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from offdiag.domain.wall_time import instant_of, wall_of, zone_of
from offdiag.errors import InvalidInput

BERLIN = zone_of("Europe/Berlin")


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_an_ordinary_wall_time_is_one_instant() -> None:
    assert instant_of(wall("2026-07-01 06:00"), BERLIN) == utc("2026-07-01 04:00")


def test_a_repeated_wall_time_means_its_first_occurrence() -> None:
    assert instant_of(wall("2026-10-25 02:30"), BERLIN) == utc("2026-10-25 00:30")


@pytest.mark.parametrize("minute", [0, 1, 30, 59])
def test_a_skipped_wall_time_means_the_first_moment_after_the_gap(minute: int) -> None:
    instant = instant_of(wall(f"2026-03-29 02:{minute:02}"), BERLIN)

    assert instant == utc("2026-03-29 01:00")
    assert wall_of(instant, BERLIN) == wall("2026-03-29 03:00")


def test_a_change_of_half_an_hour_is_a_gap_too() -> None:
    lord_howe = zone_of("Australia/Lord_Howe")

    instant = instant_of(wall("2026-10-04 02:10"), lord_howe)

    assert wall_of(instant, lord_howe) == wall("2026-10-04 02:30")


def test_a_day_that_an_island_skipped_is_a_gap_too() -> None:
    apia = zone_of("Pacific/Apia")

    instant = instant_of(wall("2011-12-30 12:00"), apia)

    assert wall_of(instant, apia) == wall("2011-12-31 00:00")


def test_both_occurrences_of_a_repeated_hour_show_the_same_wall_time() -> None:
    first = wall_of(utc("2026-10-25 00:30"), BERLIN)
    second = wall_of(utc("2026-10-25 01:30"), BERLIN)

    assert first == second
    assert second.fold == 0


@pytest.mark.parametrize(
    "name", ["Europe/Lubljana", "", "../../etc/passwd", "/etc/localtime", "localtime", "Factory"]
)
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="there is no time zone"):
        zone_of(name)


def test_a_zone_in_the_wrong_case_is_told_the_right_one() -> None:
    with pytest.raises(InvalidInput, match=r"Write Europe/Ljubljana\."):
        zone_of("europe/ljubljana")
