"""The schema is changed under programs that go on running: they refuse, and store nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from offdiag.errors import SchemaMismatch
from offdiag.services.jobs.kinds import TASKS
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.run_job import run_next_job
from offdiag.settings import Settings
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database, Session
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from offdiag.store.run_page import read_run
from offdiag.store.schema import open_database
from offdiag_web import create_app
from offdiag_workers.loop import run_worker
from offdiag_workers.process import run_engine, working_in_background
from support.contents import count_rows
from support.logging_runs import POLICY, log, work_off
from support.reads import read
from support.registries import serving

NEWER = "9999_newer"
SETTINGS = Settings(server=serving())


@pytest.fixture
def running(database: Database) -> Iterator[Database]:
    """The same database as a program has it that was started before the change."""
    opened = open_database(database.url)
    yield opened
    opened.close()


def set_revision(database: Database, revision: str) -> None:
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :r"), {"r": revision})


def revision_of(database: Database) -> str:
    with database.read() as session:
        return str(session.scalar(text("SELECT version_num FROM alembic_version")))


def test_a_client_logs_nothing_into_another_schema(database: Database, running: Database) -> None:
    log(running)
    before = revision_of(database)
    set_revision(database, NEWER)

    with pytest.raises(SchemaMismatch, match=f"brought to schema {NEWER} .* needs {before}") as no:
        log(running)

    assert "Restart it" in (no.value.hint or "")
    assert count_rows(database, RunRow) == 1


def test_a_worker_ends_with_a_sentence_and_a_new_one_does_the_work(
    database: Database, running: Database
) -> None:
    log(database)
    before = revision_of(database)
    set_revision(database, NEWER)

    with pytest.raises(SchemaMismatch, match=NEWER):
        run_worker(running, JobsSettings(), stop=threading.Event())

    with database.read() as session:
        (waiting,) = session.query(WorkRow).all()
        assert (waiting.state, waiting.attempts) == ("todo", 0)
    set_revision(database, before)
    work_off(database)
    assert count_rows(database, EvaluationRow) == 1


def test_a_result_that_was_begun_before_the_change_is_not_written_after_it(
    database: Database, running: Database
) -> None:
    log(database)
    kind = TASKS["evaluate"]

    def compute_while_somebody_upgrades(
        reading: Database, args: Mapping[str, Any]
    ) -> Callable[[Session], None]:
        writer = kind.compute(reading, args)
        set_revision(database, NEWER)
        return writer

    tasks = {"evaluate": replace(kind, compute=compute_while_somebody_upgrades)}

    with LeaseKeeper(running, lease_s=30) as keeper, pytest.raises(SchemaMismatch, match=NEWER):
        run_next_job(running, keeper, POLICY, tasks)

    assert count_rows(database, EvaluationRow) == 0


def test_an_engine_stops_handing_over(database: Database, running: Database) -> None:
    log(database)
    set_revision(database, NEWER)

    class HandsOverUntilStopped:
        def notify(self, *_: object) -> None:
            """Not in this test."""

        def prepare(self, _: object) -> None:
            """It needs nothing."""

        def serve(self, _: object, run_job: object, stop: threading.Event) -> None:
            assert callable(run_job)
            for _again in range(1_000):
                run_job(1)
                if stop.is_set():
                    return
            pytest.fail("it was never told to stop")

    with pytest.raises(SchemaMismatch, match=NEWER):
        run_engine(HandsOverUntilStopped(), running, JobsSettings(), stop=threading.Event())


def test_a_server_answers_with_the_sentence_and_recovers(
    database: Database, running: Database
) -> None:
    run = log(database)
    work_off(database)
    client = create_app(SETTINGS, running).test_client()
    before = revision_of(database)
    with database.migrate() as connection:
        connection.execute(text("ALTER TABLE run RENAME COLUMN author TO writer"))
    set_revision(database, NEWER)

    page = client.get(f"/runs/{run.id}")
    assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
    assert f"brought to schema {NEWER}" in page.text
    assert client.get("/readyz").status_code == 503
    with pytest.raises(SchemaMismatch):
        read(running, read_run, run.id)

    with database.migrate() as connection:
        connection.execute(text("ALTER TABLE run RENAME COLUMN writer TO author"))
    set_revision(database, before)
    assert client.get(f"/runs/{run.id}").status_code == 200
    assert client.get("/readyz").status_code == 200


def test_worker_and_clock_beside_a_server_say_so_without_a_traceback(
    database: Database, running: Database
) -> None:
    log(database)
    set_revision(database, NEWER)

    with capture_logs() as logs, working_in_background(running, SETTINGS):
        said = threading.Event()
        for _ in range(500):
            if any(line["event"] == "worker_stopped" for line in logs):
                break
            said.wait(0.01)

    stopped = [line for line in logs if line["event"] == "worker_stopped"]
    assert NEWER in stopped[0]["error"]
    assert {line["event"] for line in logs} <= {
        "worker_stopped",
        "scheduler_skipped",
        "heartbeat_skipped",
    }
