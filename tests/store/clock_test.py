"""The database's clock, by which leases are given."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from sqlalchemy import select, update

from offdiag.store.database import Database, database_now, utc_now
from offdiag.store.models import WorkRow
from support.rows import add_work


def test_it_is_near_the_clock_of_this_machine(database: Database) -> None:
    with database.read() as session:
        before = time.time()
        found = session.execute(select(database_now())).scalar_one()
        after = time.time()

    # SQLite's clock has milliseconds.
    assert before - 0.002 <= found <= after + 0.002


def test_it_goes_on_within_a_transaction(database: Database) -> None:
    with database.write() as session:
        first = session.execute(select(database_now())).scalar_one()
        deadline = time.monotonic() + 5
        while (latest := session.execute(select(database_now())).scalar_one()) == first:
            assert time.monotonic() < deadline, "the clock stands still"

    assert latest > first


def test_it_never_goes_back(database: Database) -> None:
    with database.read() as session:
        readings = [session.execute(select(database_now())).scalar_one() for _ in range(200)]

    assert readings == sorted(readings)


def test_a_time_computed_from_it_is_stored_and_compared(database: Database) -> None:
    with database.write() as session:
        add_work(session, key="late", due=0.0)
        add_work(session, key="early", due=0.0)
        session.execute(
            update(WorkRow).where(WorkRow.key == "early").values(due=database_now() + 3600)
        )

    with database.read() as session:
        due = session.scalars(select(WorkRow.key).where(WorkRow.due <= database_now())).all()
        wait = session.execute(
            select(WorkRow.due - database_now()).where(WorkRow.key == "early")
        ).scalar_one()

    assert due == ["late"]
    assert 3590 < wait <= 3600


def test_it_has_fractions_of_a_second(database: Database) -> None:
    with database.read() as session:
        readings = [session.execute(select(database_now())).scalar_one() for _ in range(20)]

    assert all(isinstance(reading, float) for reading in readings)
    assert any(reading != int(reading) for reading in readings)


def test_the_time_of_this_process_is_aware_and_in_utc() -> None:
    now = utc_now()

    assert now.tzinfo is UTC
    assert abs(now - datetime.now(UTC)) < timedelta(seconds=5)


def test_a_database_tells_the_time_of_the_clock_it_was_given(sqlite_url: str) -> None:
    noon = datetime(2026, 1, 2, 12, tzinfo=UTC)

    database = Database(sqlite_url, clock=lambda: noon)

    assert database.clock() == noon
