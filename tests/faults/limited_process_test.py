"""Memory, open files and threads run out: work ends with a reason, servers go on."""

from __future__ import annotations

import re
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest
from sqlalchemy import select, update

from offdiag.domain.runs import RunState
from offdiag.services.jobs.submit import evaluation_key
from offdiag.store import runs
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, WorkRow
from support.contents import count_rows
from support.logging_runs import log
from support.servers import ServerProcess, server_process
from support.worker_processes import Workers, wait_for_results, wait_until, workers


@contextmanager
def little_memory(pid: int, more_bytes: int) -> Iterator[None]:
    """While the block runs, a process may take so much more memory than it has, and no more."""
    in_use = _status(pid, "VmData") * 1024
    with _limited(pid, resource.RLIMIT_DATA, in_use + more_bytes):
        yield


@contextmanager
def few_files(pid: int, number: int) -> Iterator[None]:
    """While the block runs, a process may have so many files and connections open."""
    with _limited(pid, resource.RLIMIT_NOFILE, number):
        yield


def n_threads(pid: int) -> int:
    return _status(pid, "Threads")


def n_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@contextmanager
def _limited(pid: int, what: int, value: int) -> Iterator[None]:
    if not hasattr(resource, "prlimit"):
        pytest.skip("limits of other processes can only be set on Linux")
    soft, hard = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (value, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, what, (soft, hard))


def _status(pid: int, name: str) -> int:
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(rf"^{name}:\s+(\d+)", text, flags=re.MULTILINE)
    assert found is not None
    return int(found[1])


pytestmark = pytest.mark.processes

MIB = 1 << 20
N_SAMPLES = 1_500_000
N_CLASSES = 4
MOST_FILES = 64
MOST_THREADS = 32


def log_large(database: Database) -> str:
    """A run whose scores alone are as much memory as the process may take."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, N_CLASSES, N_SAMPLES)
    scores = rng.dirichlet(np.ones(N_CLASSES), 1_000).astype(np.float32)
    scores = np.tile(scores, (N_SAMPLES // 1_000, 1))
    predicted = scores.argmax(axis=1)
    return log(database, y_true=truth, y_pred=predicted, y_score=scores, dataset="large").id


def state_of(database: Database, run_id: str) -> RunState:
    with database.read() as session:
        return runs.get_run(session, run_id).state


def answers(server: ServerProcess, path: str) -> int:
    return httpx.get(f"{server.url}{path}", timeout=60).status_code


def pid_of(crew: Workers) -> int:
    (worker,) = crew.living
    return worker.pid


def test_work_that_finds_no_memory_is_given_up_with_the_reason_and_the_worker_goes_on(
    sqlite_database: Database, tmp_path: Path
) -> None:
    log(sqlite_database)
    with workers(sqlite_database.url, tmp_path / "log", number=1, lease_s=20.0) as crew:
        # Whatever is loaded on first use is there before memory gets scarce.
        wait_for_results(sqlite_database, crew, 1)
        with little_memory(pid_of(crew), 24 * MIB):
            large = log_large(sqlite_database)
            with sqlite_database.write() as session:
                # All attempts but one are behind it; each would end the same way.
                session.execute(
                    update(WorkRow).where(WorkRow.key == evaluation_key(large)).values(attempts=4)
                )
            wait_until(lambda: state_of(sqlite_database, large) is RunState.FAILED, crew)
            log(sqlite_database)
            wait_for_results(sqlite_database, crew, 2)
        assert crew.ended() == []

    with sqlite_database.read() as session:
        (dead,) = session.scalars(select(WorkRow))
    assert dead.state == "dead"
    assert "memory" in (dead.error or "").lower()
    assert count_rows(sqlite_database, EvaluationRow) == 2


def test_a_server_that_finds_no_memory_says_so_and_lives(tmp_path: Path) -> None:
    with server_process(tmp_path, "--no-worker") as server:
        opened = httpx.post(
            f"{server.url}/api/v1/runs",
            json={"name": "run", "dataset": "d", "labels": ["a", "b"]},
            timeout=60,
        )
        address = f"{server.url}/api/v1/runs/{opened.json()['id']}/chunks/0"
        body = b'{"y_pred": [' + b'"a",' * 2_000_000 + b'"b"]}'
        assert answers(server, "/runs") == 200

        with little_memory(server.pid, 24 * MIB):
            refused = httpx.put(
                address, content=body, headers={"Content-Type": "application/json"}, timeout=60
            )
            alive = answers(server, "/healthz")
        # Memory that was asked for in vain is there again.
        reads = answers(server, "/runs")

    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "out_of_memory"
    assert refused.headers["Retry-After"]
    assert (alive, reads) == (200, 200)


def test_a_server_and_its_worker_need_few_threads_and_recover_once_there_are_files(
    tmp_path: Path,
) -> None:
    with server_process(tmp_path) as server:
        database = Database(f"sqlite:///{tmp_path / 'registry.db'}")
        run = log(database, y_score=np.full((6, 3), 1 / 3))
        wait_for_evaluations(database, 1)
        assert answers(server, f"/runs/{run.id}/curves") == 200
        # One more loads what nobody has asked for yet, and ends.
        give_up_at = time.monotonic() + 60
        while (found := n_threads(server.pid)) > MOST_THREADS and time.monotonic() < give_up_at:
            time.sleep(0.05)
        assert found <= MOST_THREADS

        with few_files(server.pid, MOST_FILES), ExitStack() as held:
            for _ in range(MOST_FILES + 20):
                held.enter_context(
                    socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1])))
                )
            wait_for_files(server.pid, MOST_FILES)
            log(database)
        # Those who held connections are gone; nobody has touched the server.
        assert answers(server, "/runs") == 200
        wait_for_evaluations(database, 2)
        assert answers(server, "/readyz") == 200
        database.close()


def wait_for_evaluations(database: Database, number: int) -> None:
    give_up_at = time.monotonic() + 120
    while count_rows(database, EvaluationRow) < number:
        assert time.monotonic() < give_up_at, "the worker beside the server does no work"
        time.sleep(0.05)


def wait_for_files(pid: int, number: int) -> None:
    give_up_at = time.monotonic() + 30
    while n_files(pid) < number - 2:
        assert time.monotonic() < give_up_at, f"{n_files(pid)} files are open"
        time.sleep(0.02)
