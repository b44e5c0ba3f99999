"""Dashboards and workers that start while PostgreSQL is down, and work once it is up."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from sqlalchemy import make_url, text

import offdiag_migrations
from offdiag.domain.access import Grant, Role
from offdiag.errors import DatabaseUnavailable, SchemaMismatch
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, WorkRow
from offdiag.store.schema import open_database
from support.access import add_person, token_of
from support.contents import count_rows
from support.crashing_postgres import CrashingServer, crashing_server
from support.logging_runs import log
from support.quick_starts import QuickProcess
from support.web_hosts import Kind, WebHost

pytestmark = [pytest.mark.processes, pytest.mark.postgres]


def wait_until(
    condition: Callable[[], bool], process: QuickProcess, said: Callable[[], str]
) -> None:
    give_up_at = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, said()
        assert time.monotonic() < give_up_at, said()
        time.sleep(0.1)


def set_schema(url: str, revision: str) -> None:
    database = Database(url)
    with database.migrate() as connection:
        connection.execute(
            text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision}
        )
    database.close()


@pytest.mark.parametrize("kind", ["gunicorn", "serve"])
def test_a_dashboard_comes_up_without_the_server_and_recovers(kind: Kind, tmp_path: Path) -> None:
    with crashing_server() as server:
        database = Database(server.url)
        add_person(database, "ada", Grant(Role.ADMIN))
        asking = {"Authorization": f"Bearer {token_of(database, 'ada', Role.VIEWER)}"}
        database.close()
        server.crash()
        host = WebHost(kind, server.url, tmp_path / "log", OFFDIAG_ACCESS__AUTH="required")
        host.start()
        try:
            wait_until(lambda: host.readiness() == "database_unavailable", host.process, host.said)
            assert httpx.get(f"{host.url}/healthz").status_code == 200
            away = httpx.get(f"{host.url}/runs", headers={**asking, "Accept": "text/html"})
            assert (away.status_code, away.headers["Retry-After"]) == (503, "5")
            assert "the server cannot be reached" in away.text

            server.start()
            wait_until(lambda: host.readiness() == "ready", host.process, host.said)
            assert httpx.get(f"{host.url}/runs", headers=asking).status_code == 200
            assert "Traceback" not in host.said()
        finally:
            host.kill()


def test_the_schema_is_checked_once_the_server_is_there() -> None:
    with crashing_server() as server:
        set_schema(server.url, "0001")
        server.crash()
        with pytest.raises(DatabaseUnavailable):
            open_database(server.url)
        database = open_database(server.url, may_be_away=True)
        with pytest.raises(DatabaseUnavailable), database.read():
            pass

        server.start()
        view = database.seen_by(frozenset(), None)
        for transaction in (database.read, database.write, view.read):
            with pytest.raises(SchemaMismatch, match="has schema 0001"), transaction():
                pass

        set_schema(server.url, offdiag_migrations.head())
        with database.read() as session:
            assert session.scalar(text("SELECT 1")) == 1
        database.close()


def test_a_database_that_the_server_does_not_have_is_refused_at_once(
    postgres_database: Database,
) -> None:
    url = make_url(postgres_database.url).set(database="nowhere")
    with pytest.raises(DatabaseUnavailable, match="no such database"):
        open_database(url.render_as_string(hide_password=False), may_be_away=True)


def worker(server: CrashingServer, log_file: Path, engine: str) -> QuickProcess:
    with log_file.open("ab") as stream:
        return QuickProcess(
            [str(Path(sys.executable).with_name("offdiag")), "worker", "--url", server.url],
            cwd=log_file.parent,
            env={
                **{name: text for name, text in os.environ.items() if "OFFDIAG" not in name},
                "OFFDIAG_JOBS__ENGINE": engine,
            },
            stdout=stream,
            stderr=stream,
        )


@pytest.mark.parametrize(
    ("engine", "said"), [("local", "worker_started"), ("procrastinate", "database_unavailable")]
)
def test_a_worker_comes_up_without_the_server_and_works_once_it_is_there(
    engine: str, said: str, tmp_path: Path
) -> None:
    log_file = tmp_path / "log"
    with crashing_server() as server:
        database = Database(server.url)
        log(database)
        database.close()
        server.crash()
        process = worker(server, log_file, engine)
        try:
            wait_until(
                lambda: f"event={said}" in log_file.read_text(), process, log_file.read_text
            )
            server.start()
            database = Database(server.url)
            wait_until(
                lambda: count_rows(database, EvaluationRow) == 1, process, log_file.read_text
            )
            wait_until(lambda: count_rows(database, WorkRow) == 0, process, log_file.read_text)
            process.terminate()
            assert process.wait(20) == 0
            assert "Traceback" not in log_file.read_text()
        finally:
            process.kill()
            database.close()
