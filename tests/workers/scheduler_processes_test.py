"""Real schedulers: doubled, killed and started again, each fire happens once."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from offdiag.services.delivery.message import FolderTarget
from offdiag.services.health import SILENT_AFTER_S
from offdiag.services.jobs.page import jobs_page
from offdiag.services.reports.edition import report_now
from offdiag.services.schedules.due import run_due_schedules
from offdiag.store.database import Database
from offdiag.store.models import WorkRow
from support.logging_runs import work_off
from support.processes import started
from support.quick_starts import run_quickly
from support.reporting import SCOPE, editions, files, log_run, utc, weekly
from support.run_schedules_for_ever import scheduler
from support.worker_processes import wait_until, workers

pytestmark = pytest.mark.processes

START = utc("2026-03-29 00:00")
SPEED = 1_800
"""Half an hour of the schedule passes in each second."""
N_SCHEDULES = 3
KILL_POINTS = Path(__file__).parent.parent / "support" / "kill_points.py"


@contextmanager
def run_scheduler(database: Database, began: float, number: int = 1) -> Iterator[None]:
    """So many schedulers, killed at the end of the block."""
    living = [scheduler(database, START, speed=SPEED, began=began) for _ in range(number)]
    try:
        yield
    finally:
        for process in living:
            process.end()


def test_four_processes_of_which_one_is_killed_again_and_again(database: Database) -> None:
    log_run(database)
    for number in range(N_SCHEDULES):
        weekly(
            database,
            name=f"every ten minutes {number}",
            cron="*/10 * * * *",
            zone="Europe/Berlin",
            due=START,
        )

    began = time.time()
    with run_scheduler(database, began, 3):
        for _ in range(3):
            with run_scheduler(database, began):
                time.sleep(0.2)
    now = START + timedelta(seconds=(time.time() - began) * SPEED)
    run_due_schedules(database, now)

    found = editions(database)
    fires = Counter((edition.name, edition.fire_time) for edition in found)
    assert set(fires.values()) == {1}
    with database.read() as session:
        keys = Counter(session.scalars(select(WorkRow.key).where(WorkRow.task == "report")))
    assert set(keys.values()) == {1}
    assert len(keys) == len(found)
    for number in range(N_SCHEDULES):
        of_one = [edition for edition in found if edition.name.endswith(str(number))]
        assert [edition.number for edition in of_one] == list(range(1, len(of_one) + 1))
        # Every planned fire is an edition of its own or covered by a later one.
        n_planned = int((now - START) / timedelta(minutes=10)) + 1
        assert sum(1 + edition.covers_missed for edition in of_one) == n_planned


def test_killed_between_any_two_statements_an_edition_is_made_and_sent_once(
    sqlite_database: Database, tmp_path: Path
) -> None:
    log_run(sqlite_database)
    report_now(sqlite_database, name="weekly", scope=SCOPE, delivery=[FolderTarget("weekly")])
    assert sqlite_database.path is not None
    sqlite_database.close()
    undisturbed = shutil.copy(sqlite_database.path, tmp_path / "undisturbed.db")

    done = run_quickly(
        [sys.executable, KILL_POINTS, undisturbed],
        env={**os.environ, "OFFDIAG_REPORTS__FOLDER": str(tmp_path / "reports")},
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]

    assert [line["killed"] for line in lines] == [True] * (len(lines) - 1) + [False]
    assert lines[-1]["n"] > 25, "there are fewer statements than when this was written"
    assert len({line["contents"] for line in lines}) == 1
    written = sorted(path.name for path in (tmp_path / "reports" / "weekly").iterdir())
    assert written == [f"weekly-0001{suffix}" for suffix in (".csv", ".html", ".json", ".md")]


def test_wherever_the_disk_fills_up_an_edition_is_whole_or_not_there(
    sqlite_database: Database,
) -> None:
    for number in range(12):
        log_run(sqlite_database, name=f"run {number}", wrong=number)
    report_now(sqlite_database, name="weekly", scope=SCOPE)
    assert sqlite_database.path is not None
    sqlite_database.close()
    said = []

    for limit in range(60_000, 400_000, 136_000):
        copy = shutil.copy(sqlite_database.path, sqlite_database.path.with_name(f"{limit}.db"))
        database = Database(f"sqlite:///{copy}")
        with started(
            "support.faults", "work_with_little_room", database.url, str(limit)
        ) as process:
            said.append(process.result().partition(":")[0])
        (edition,) = editions(database)
        assert len(files(database, edition.id)) == (4 if said[-1] == "done" else 0)
        assert edition.state.value == ("computed" if said[-1] == "done" else "pending")
        with database.write() as session:
            session.execute(update(WorkRow).values(lease_until=0.0, due=0.0))
        work_off(database)
        assert editions(database)[0].state.value == "computed"
        database.close()

    assert set(said) == {"unavailable", "done"}


def test_a_worker_process_ticks_computes_and_says_that_it_lives(
    sqlite_database: Database, tmp_path: Path
) -> None:
    log_run(sqlite_database)
    weekly(sqlite_database, cron="0 * * * *", due=datetime.now(UTC) - timedelta(minutes=150))

    with workers(sqlite_database.url, tmp_path / "log", number=1, lease_s=30.0) as crew:
        wait_until(
            lambda: [edition.state.value for edition in editions(sqlite_database)] == ["computed"],
            crew,
        )
        wait_until(lambda: jobs_page(sqlite_database).has_scheduler, crew)
        alive = jobs_page(sqlite_database)

    assert editions(sqlite_database)[0].covers_missed in {1, 2}
    assert alive.has_worker
    assert alive.schedulers[0].age_s < SILENT_AFTER_S
