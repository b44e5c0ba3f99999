"""The scheduler of a process: it creates editions, each once, and says that it lives."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

import pytest
from apscheduler.events import EVENT_JOB_MAX_INSTANCES
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger
from sqlalchemy import delete, update
from structlog.testing import capture_logs

from offdiag.errors import DatabaseUnavailable
from offdiag.services.jobs.page import jobs_page
from offdiag.services.reports.edition import report_now
from offdiag.store.database import Database
from offdiag.store.models import ScheduleRow, WorkRow
from offdiag_workers import scheduler
from offdiag_workers.heartbeat import beating
from offdiag_workers.scheduler import ScheduleRunner, run_scheduler
from support.logging_runs import POLICY
from support.reporting import SCOPE, editions, log_run, weekly, work_keys


def test_what_is_due_is_created_at_once_when_it_starts(sqlite_database: Database) -> None:
    log_run(sqlite_database)
    weekly(sqlite_database, cron="* * * * *", due=sqlite_database.clock() - timedelta(minutes=1))

    with capture_logs() as logs, run_scheduler(sqlite_database, POLICY):
        pass

    assert len(editions(sqlite_database)) >= 1
    fired = [line for line in logs if line["event"] == "fired"]
    assert (fired[0]["project"], fired[0]["report"]) == ("skin", "weekly")


def test_lost_work_of_editions_is_asked_for_again(sqlite_database: Database) -> None:
    log_run(sqlite_database)
    report_now(sqlite_database, name="once", scope=SCOPE)
    with sqlite_database.write() as session:
        session.execute(delete(WorkRow))

    with run_scheduler(sqlite_database, POLICY):
        pass

    assert work_keys(sqlite_database) == [f"report:{editions(sqlite_database)[0].id}"]


def test_while_it_ticks_there_is_a_scheduler_and_then_there_is_none(
    sqlite_database: Database,
) -> None:
    with run_scheduler(sqlite_database, POLICY):
        during = jobs_page(sqlite_database).has_scheduler

    assert during
    assert not jobs_page(sqlite_database).schedulers


def test_while_it_works_there_is_a_worker_and_then_there_is_none(
    sqlite_database: Database,
) -> None:
    with beating(sqlite_database, "worker"):
        for _ in range(200):
            if jobs_page(sqlite_database).has_worker:
                break
        during = jobs_page(sqlite_database).has_worker

    assert during
    assert not jobs_page(sqlite_database).workers


def test_an_unreadable_schedule_is_told_once(sqlite_database: Database) -> None:
    log_run(sqlite_database)
    weekly(sqlite_database, due=sqlite_database.clock())
    with sqlite_database.write() as session:
        session.execute(update(ScheduleRow).values(zone="Mars/Olympus"))
    runner = ScheduleRunner(sqlite_database)

    with capture_logs() as logs:
        for _ in range(3):
            runner.run_due()

    assert [line["event"] for line in logs] == ["schedule_unreadable"]
    assert "there is no time zone 'Mars/Olympus'" in logs[0]["reason"]


def test_a_database_that_is_away_costs_one_round_and_no_sign_of_life(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_database: Database) -> None:
        raise DatabaseUnavailable("the server cannot be reached.")

    monkeypatch.setattr(scheduler, "run_due_schedules", away)

    with capture_logs() as logs, run_scheduler(sqlite_database, POLICY):
        alive = jobs_page(sqlite_database).has_scheduler

    assert not alive
    skipped = {(line["event"], line.get("act")) for line in logs}
    assert ("scheduler_skipped", "schedules") in skipped


def test_it_runs_where_the_time_zone_of_the_machine_is_unknown(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Nonsense/Place")

    with run_scheduler(sqlite_database, POLICY):
        during = jobs_page(sqlite_database).has_scheduler

    assert during


def test_a_round_that_is_left_out_while_one_goes_on_is_no_warning(
    sqlite_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    left_out = threading.Event()
    scheduler = BackgroundScheduler(timezone="UTC")
    scheduler.add_listener(lambda _event: left_out.set(), EVENT_JOB_MAX_INSTANCES)
    scheduler.add_job(left_out.wait, IntervalTrigger(seconds=0.01))

    with run_scheduler(sqlite_database, POLICY):
        scheduler.start()
        assert left_out.wait(60)
        scheduler.shutdown()
        logging.getLogger("apscheduler.scheduler").warning("something else")

    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == [
        "something else"
    ]
