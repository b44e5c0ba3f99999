"""Backups and collections by the clock: off by default, done at once, ended by a stop."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from offdiag.services.retention.deletion import collect, delete_run
from offdiag.settings import Settings
from offdiag.store.audit_log import AuditFilter, audit_page
from offdiag.store.database import Database
from offdiag_workers import scheduler as upkeep_module
from offdiag_workers.scheduler import Maintenance, run_scheduler
from support.archives import run_ids
from support.logging_runs import POLICY, log
from support.reads import read

NIGHTLY = Settings.model_validate({"gc": {"nightly": True, "older_than_days": 0}})


def with_backups(folder: Path) -> Settings:
    return Settings.model_validate({"backup": {"folder": str(folder)}})


def test_nothing_is_kept_up_by_default(sqlite_database: Database) -> None:
    assert Maintenance(sqlite_database, Settings()).rounds() == []


def test_a_backup_is_made_as_soon_as_the_clock_starts_and_once(
    sqlite_database: Database, tmp_path: Path
) -> None:
    log(sqlite_database)
    maintenance = Maintenance(sqlite_database, with_backups(tmp_path / "backups"))

    with capture_logs() as logs:
        maintenance.back_up()
        maintenance.back_up()

    (file,) = (tmp_path / "backups").iterdir()
    (line,) = logs
    assert (line["event"], line["file"]) == ("backed_up", str(file))


def test_the_clock_goes_the_rounds_of_the_upkeep(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(sqlite_database)
    done = threading.Event()
    collected = threading.Event()
    monkeypatch.setattr(Maintenance, "back_up", lambda _self: done.set())
    monkeypatch.setattr(Maintenance, "collect", lambda _self: collected.set())
    settings = Settings.model_validate(
        {"backup": {"folder": str(tmp_path / "backups")}, "gc": {"nightly": True}}
    )

    with run_scheduler(sqlite_database, POLICY, Maintenance(sqlite_database, settings)):
        assert done.wait(30)
        assert collected.wait(30)


def test_the_night_is_at_three_in_utc(sqlite_database: Database) -> None:
    (each,) = Maintenance(sqlite_database, NIGHTLY).rounds()

    found = each.trigger.get_next_fire_time(None, datetime(2026, 11, 20, 14, 0, tzinfo=UTC))

    night = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
    assert abs(found - night) <= timedelta(minutes=10)


def test_a_server_is_backed_up_by_its_own_tools(
    postgres_database: Database, tmp_path: Path
) -> None:
    with capture_logs() as logs:
        rounds = Maintenance(postgres_database, with_backups(tmp_path / "backups")).rounds()

    assert rounds == []
    assert logs[0]["event"] == "no_backups"


def test_a_backup_that_fails_is_told_and_tried_again(
    sqlite_database: Database, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    maintenance = Maintenance(sqlite_database, with_backups(tmp_path / "file" / "backups"))

    with capture_logs() as logs:
        maintenance.back_up()

    assert [line["event"] for line in logs] == ["backup_failed"]
    assert "cannot be made" in logs[0]["error"]


def test_a_stop_ends_a_backup_and_leaves_nothing(
    sqlite_database: Database, tmp_path: Path
) -> None:
    log(sqlite_database)
    maintenance = Maintenance(sqlite_database, with_backups(tmp_path / "backups"))
    maintenance.stop()

    with capture_logs() as logs:
        maintenance.back_up()

    assert list((tmp_path / "backups").iterdir()) == []
    assert logs == []


def test_deleted_runs_are_removed_by_the_nightly_collection(sqlite_database: Database) -> None:
    kept, gone = log(sqlite_database), log(sqlite_database)
    delete_run(sqlite_database, gone.id, by=None)

    with capture_logs() as logs:
        Maintenance(sqlite_database, NIGHTLY).collect()
        Maintenance(sqlite_database, NIGHTLY).collect()

    assert run_ids(sqlite_database) == [kept.id]
    assert logs == [{"event": "collected", "log_level": "info", "runs": 1, "evaluations": 0}]
    events = read(sqlite_database, audit_page, AuditFilter(actor="clock")).events
    assert {(event.actor_kind, event.action) for event in events} == {("system", "gc.nightly")}
    assert [event for event in events if "run" in event.detail.get("removed", ())]


def test_a_stop_ends_a_collection(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = log(sqlite_database)
    delete_run(sqlite_database, gone.id, by=None)
    maintenance = Maintenance(sqlite_database, NIGHTLY)
    maintenance.stop()
    asked: list[bool] = []

    def collect_and_note(*arguments: object, **given: object) -> object:
        asked.append(True)
        return collect(*arguments, **given)  # type: ignore[arg-type]  # Passed on as they came.

    monkeypatch.setattr(upkeep_module, "collect", collect_and_note)
    maintenance.collect()

    assert asked
    assert run_ids(sqlite_database) == [gone.id]
