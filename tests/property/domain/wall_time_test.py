"""Laws of wall times: later wall times are never earlier instants, in any zone."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import available_timezones

from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.schedule import instant_of, wall_of, zone_of

ZONES = st.sampled_from(sorted(available_timezones() - {"Factory", "localtime"}))
WALLS = st.datetimes(
    min_value=datetime.fromisoformat("1975-01-01"), max_value=datetime.fromisoformat("2045-01-01")
).map(lambda wall: wall.replace(second=0, microsecond=0))
MINUTES = st.integers(min_value=0, max_value=3 * 24 * 60)


@given(ZONES, WALLS, MINUTES)
def test_instants_never_go_backwards(zone_name: str, wall: datetime, minutes: int) -> None:
    zone = zone_of(zone_name)

    assert instant_of(wall, zone) <= instant_of(wall + timedelta(minutes=minutes), zone)


@given(ZONES, WALLS)
def test_the_clock_then_shows_the_wall_time_or_a_later_one(zone_name: str, wall: datetime) -> None:
    zone = zone_of(zone_name)

    shown = wall_of(instant_of(wall, zone), zone)

    assert shown >= wall
    assert instant_of(shown, zone) == instant_of(wall, zone)
