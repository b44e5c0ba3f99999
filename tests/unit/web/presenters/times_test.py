from datetime import UTC, datetime, timedelta

import pytest

from offdiag_web.components.chips import moment, spell_short

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(seconds=-30), "just now"),
        (timedelta(seconds=42), "42 s ago"),
        (timedelta(minutes=4, seconds=59), "4 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=5), "5 d ago"),
        (timedelta(days=60), "21 Sep 2026"),
    ],
)
def test_moments_are_told_from_now(age: timedelta, text: str) -> None:
    assert moment(NOW - age, now=NOW).relative == text


def test_moments_are_also_given_in_full_and_for_machines() -> None:
    shown = moment(datetime(2026, 11, 20, 11, 30, 15, 250_000, tzinfo=UTC), now=NOW)

    assert shown.full == "2026-11-20 11:30:15 UTC"
    assert shown.machine == "2026-11-20T11:30:15.250000+00:00"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0031, "3 ms"), (0.9999, "1.0 s"), (12.34, "12.3 s"), (150.0, "2 min")],
)
def test_durations_are_told_in_a_fitting_unit(seconds: float, text: str) -> None:
    assert spell_short(seconds) == text
