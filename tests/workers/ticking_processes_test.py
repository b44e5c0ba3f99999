"""Real schedulers: doubled, killed and started again, each fire happens once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from offdiag.services.delivery.targets import FolderTarget
from offdiag.services.heartbeats import SILENT_AFTER_S
from offdiag.services.jobs.pages import jobs_page
from offdiag.services.reports.asking import report_now
from offdiag.services.schedules.tick import tick
from offdiag.store.database import Database
from offdiag.store.models import WorkRow
from support.logging_runs import work_off
from support.processes import Process, started
from support.reporting import SCOPE, files, issues, log_run, utc, weekly

pytestmark = pytest.mark.processes

START = utc("2026-03-29 00:00")
SPEED = 1_800
"""Half an hour of the schedule passes in each second."""
N_SCHEDULES = 3
KILL_POINTS = Path(__file__).parent.parent / "support" / "kill_points.py"


def ticking(stack: ExitStack, database: Database, began: float) -> Process:
    process = stack.enter_context(
        started(
            "support.tick_for_ever",
            *(database.url, str(START.timestamp()), str(SPEED), str(began)),
        )
    )
    process.wait_for_line()
    return process


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

    with ExitStack() as stack:
        began = time.time()
        for _ in range(3):
            ticking(stack, database, began)
        for _ in range(5):
            with ExitStack() as short:
                ticking(short, database, began)
                time.sleep(0.3)
    now = START + timedelta(seconds=(time.time() - began) * SPEED)
    tick(database, now)

    found = issues(database)
    fires = Counter((issue.name, issue.fire_time) for issue in found)
    assert set(fires.values()) == {1}
    with database.read() as session:
        keys = Counter(session.scalars(select(WorkRow.key).where(WorkRow.task == "report")))
    assert set(keys.values()) == {1}
    assert len(keys) == len(found)
    for number in range(N_SCHEDULES):
        of_one = [issue for issue in found if issue.name.endswith(str(number))]
        assert [issue.number for issue in of_one] == list(range(1, len(of_one) + 1))
        # Every planned fire is an issue of its own or covered by a later one.
        n_planned = int((now - START) / timedelta(minutes=10)) + 1
        assert sum(1 + issue.covers_missed for issue in of_one) == n_planned


def test_after_all_were_down_one_issue_catches_up(database: Database) -> None:
    log_run(database)
    weekly(database, cron="0 * * * *", due=START)
    tick(database, START)

    with ExitStack() as stack:
        began = time.time() - 3_600 * 6.5 / SPEED
        for _ in range(2):
            ticking(stack, database, began)
        time.sleep(0.5)

    first, caught_up = issues(database)[:2]
    assert first.covers_missed == 0
    assert caught_up.covers_missed >= 5
    assert len({issue.fire_time for issue in issues(database)}) == len(issues(database))


def test_killed_between_any_two_statements_an_issue_is_made_and_sent_once(
    sqlite_database: Database, tmp_path: Path
) -> None:
    log_run(sqlite_database)
    report_now(sqlite_database, name="weekly", scope=SCOPE, delivery=[FolderTarget("weekly")])
    assert sqlite_database.path is not None
    sqlite_database.close()
    undisturbed = shutil.copy(sqlite_database.path, tmp_path / "undisturbed.db")

    done = subprocess.run(
        [sys.executable, str(KILL_POINTS), str(undisturbed)],
        env={**os.environ, "OFFDIAG_REPORTS__FOLDER": str(tmp_path / "reports")},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]

    assert [line["killed"] for line in lines] == [True] * (len(lines) - 1) + [False]
    assert len(lines) > 25, "the work has fewer statements than were counted when this was written"
    assert len({line["contents"] for line in lines}) == 1
    written = sorted(path.name for path in (tmp_path / "reports" / "weekly").iterdir())
    assert written == [f"weekly-0001{suffix}" for suffix in (".csv", ".html", ".json", ".md")]


def test_wherever_the_disk_fills_up_an_issue_is_whole_or_not_there(
    sqlite_database: Database,
) -> None:
    for number in range(20):
        log_run(sqlite_database, name=f"run {number}", wrong=number)
    report_now(sqlite_database, name="weekly", scope=SCOPE)
    assert sqlite_database.path is not None
    sqlite_database.close()
    said = []

    for limit in range(60_000, 400_000, 48_000):
        copy = shutil.copy(sqlite_database.path, sqlite_database.path.with_name(f"{limit}.db"))
        database = Database(f"sqlite:///{copy}")
        with started("support.report_with_little_room", database.url, str(limit)) as process:
            said.append(process.result().partition(":")[0])
        (issue,) = issues(database)
        assert len(files(database, issue.id)) == (4 if said[-1] == "done" else 0)
        assert issue.state.value == ("computed" if said[-1] == "done" else "pending")
        with database.write() as session:
            session.execute(update(WorkRow).values(lease_until=0.0))
        work_off(database)
        assert issues(database)[0].state.value == "computed"
        database.close()

    assert set(said) == {"unavailable", "done"}


def test_a_worker_process_ticks_computes_and_says_that_it_lives(database: Database) -> None:
    log_run(database)
    weekly(database, cron="0 * * * *", due=datetime.now(UTC) - timedelta(minutes=150))

    with worker(database):
        wait_until(lambda: [issue.state.value for issue in issues(database)] == ["computed"])
        wait_until(lambda: jobs_page(database).has_scheduler)
        alive = jobs_page(database)

    assert issues(database)[0].covers_missed in {1, 2}
    assert alive.has_worker
    assert alive.schedulers[0].age_s < SILENT_AFTER_S


@contextmanager
def worker(database: Database) -> Iterator[None]:
    """`offdiag worker` on this database."""
    command = [str(Path(sys.executable).with_name("offdiag")), "worker", "--url", database.url]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def wait_until(condition: object, *, timeout_s: float = 60) -> None:
    assert callable(condition)
    give_up_at = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < give_up_at, "it did not happen in time"
        time.sleep(0.02)
