"""Queries so slow that they hold every connection: others are sent away at once, not held too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from sqlalchemy import text

from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.models import RunRow
from support.contents import count_rows
from support.logging_runs import log
from support.web_hosts import WebHost, web_hosts

pytestmark = [pytest.mark.processes, pytest.mark.postgres]

N_CONNECTIONS = 15
"""As many as a server opens."""
N_THREADS = "40"
"""More than that, so that it is connections which run out."""
PAGES = ("/runs", "/runs.json", "/api/v1/runs")
MATRIX = {
    "name": "refused",
    "dataset": "another",
    "labels": ["a", "b"],
    "orientation": "actual_rows",
    "matrix": [[3, 1], [2, 4]],
}
LOCK_S = 50
"""Longer than by default, as a slow machine takes longer to send the others away."""
_WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")


@contextmanager
def runs_read_slowly(database: Database) -> Iterator[None]:
    """Whoever asks for runs waits until the block ends, at most as long as a lock may take."""
    with psycopg.connect(database.url) as other:
        other.execute("LOCK TABLE run IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


def wait_for_slow_queries(database: Database) -> None:
    give_up_at = time.monotonic() + LOCK_S / 2
    with database.read() as session:
        while (found := session.scalar(_WAITING)) != N_CONNECTIONS:
            assert time.monotonic() < give_up_at, f"{found} queries wait"
            time.sleep(0.02)
            session.rollback()


def test_where_slow_queries_hold_all_connections_others_are_sent_away_and_it_recovers(
    postgres_database: Database, tmp_path: Path
) -> None:
    log(postgres_database)
    url = f"{postgres_database.url}&options=-c%20lock_timeout%3D{LOCK_S}s"
    host = WebHost("serve", url, tmp_path / "log", OFFDIAG_SERVER__THREADS=N_THREADS)

    def get(path: str) -> httpx.Response:
        return httpx.get(f"{host.url}{path}", timeout=60)

    def post() -> httpx.Response:
        return httpx.post(f"{host.url}/api/v1/matrices", json=MATRIX, timeout=60)

    def end_of(asked: Future[httpx.Response]) -> int:
        return asked.result().status_code

    with web_hosts(host), ThreadPoolExecutor(2 * N_CONNECTIONS) as threads:
        with runs_read_slowly(postgres_database):
            slow = [threads.submit(get, "/api/v1/runs") for _ in range(N_CONNECTIONS)]
            wait_for_slow_queries(postgres_database)
            asked = [threads.submit(get, path) for path in PAGES]
            asked.append(threads.submit(post))
            ready = threads.submit(get, "/readyz")
            alive = end_of(threads.submit(get, "/healthz"))
            refused = [each.result() for each in asked]
            readiness = ready.result()
            # Nobody waited for the slow ones, which would otherwise end at the limit of locks.
            n_ended = sum(each.done() for each in slow)
        assert [each.result().status_code for each in slow] == [200] * N_CONNECTIONS
        afterwards = [get(path).status_code for path in (*PAGES, "/readyz")]
        n_runs_before = count_rows(postgres_database, RunRow)
        sent_again = post().status_code

    assert n_ended == 0
    assert [(each.status_code, each.headers["Retry-After"]) for each in refused] == [
        (503, "5")
    ] * len(refused), [each.text for each in refused]
    assert all("connections are in use" in each.text for each in refused)
    assert alive == 200
    assert (readiness.status_code, readiness.json()["code"]) == (503, "database_unavailable")
    assert (afterwards, n_runs_before, sent_again) == ([200] * (len(PAGES) + 1), 1, 201)
    assert verify(postgres_database).is_clean
