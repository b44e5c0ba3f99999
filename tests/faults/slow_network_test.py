"""A network that is slow, narrow and loses packets: everything takes longer and is right."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random

import httpx
import numpy as np
import pytest
from sqlalchemy import func, select

import offdiag
from offdiag.domain.runs import RunFacts
from offdiag.errors import DatabaseUnavailable, OffdiagError, RunKept
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow
from support.contents import count_rows
from support.ledgers import Client, assert_verified
from support.logging_runs import log
from support.network import Network, network_to, network_to_server_of, url_through
from support.servers import serving
from support.worker_processes import wait_for_results, workers

pytestmark = [pytest.mark.processes, pytest.mark.postgres]

IS_LONG = "OFFDIAG_LONG" in os.environ
LATENCY_S, BYTES_PER_S, STALL_CHANCE = (0.5, 10_000, 0.01) if IS_LONG else (0.03, 200_000, 0.01)
N_RUNS = 2
"""Of each of the two clients."""
N_SAMPLES = 300
PATIENCE_S = 600 if IS_LONG else 120
PAGES = ("/runs", "/api/v1/runs", "/readyz")


def make_slow(network: Network) -> None:
    network.latency_s = LATENCY_S
    network.bytes_per_s = BYTES_PER_S
    network.stall_chance = STALL_CHANCE


@pytest.fixture
def network(postgres_database: Database) -> Iterator[Network]:
    """A network to the database, which is quick until it is told."""
    with network_to_server_of(postgres_database) as found:
        yield found


class Job:
    """Logs over HTTP as a training job does, and the same over a network that is quick.

    What is stored there is what has to be here.
    """

    def __init__(self, url: str, quick: str) -> None:
        self.n_acknowledged = 0
        self._urls = (url, quick)
        self._random = Random("job")

    def log(self, number: int) -> None:
        """Log one run of its own content to both, again while the server says it is busy."""
        key = f"job-{number}"
        truth, predicted = ([self._random.choice("ab") for _ in range(N_SAMPLES)] for _ in "tp")
        for url in self._urls:
            is_stored = False
            while not is_stored:
                # A run that waits for a slow one to end, as for its project, may be kept at home.
                with suppress(RunKept):
                    offdiag.log_run(
                        y_true=truth,
                        y_pred=predicted,
                        labels=["a", "b"],
                        name=key,
                        dataset="jobs",
                        client_key=key,
                        url=url,
                    )
                    is_stored = True
        self.n_acknowledged += 1


def add_all_of(database: Database, ledger: Path) -> None:
    """Write the runs of a database into a ledger."""
    with database.read() as session, ledger.open("a", encoding="utf-8") as entries:
        for key, digest in session.execute(select(RunRow.client_key, RunRow.content_digest)):
            entries.write(f"{key} {digest}\n")


def test_a_slow_network_before_the_server_and_behind_it_costs_time_alone(
    network: Network,
    postgres_database: Database,
    sqlite_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    far = Database(url_through(network, postgres_database))
    ledger = tmp_path / "ledger"
    client = Client(far, ledger, Random("client"), name="client")
    statuses: list[int] = []
    failures: list[OffdiagError] = []
    enough = threading.Event()

    with ExitStack() as stack:
        server = stack.enter_context(serving(far, with_worker=False))
        port = int(server.rsplit(":", 1)[1])
        before = stack.enter_context(network_to(("127.0.0.1", port)))
        address = f"http://127.0.0.1:{before.port}"
        job = Job(address, stack.enter_context(serving(sqlite_database, with_worker=False)))
        crew = stack.enter_context(
            workers(
                url_through(network, postgres_database), tmp_path / "log", number=2, lease_s=60
            )
        )
        make_slow(network)
        make_slow(before)

        def log_all(one: Client | Job) -> None:
            try:
                for number in range(N_RUNS):
                    one.log(number)
            except OffdiagError as error:
                failures.append(error)

        def look() -> None:
            with httpx.Client(base_url=address, timeout=PATIENCE_S) as http:
                while not enough.is_set():
                    statuses.extend(http.get(path).status_code for path in PAGES)

        threads = [threading.Thread(target=log_all, args=(each,)) for each in (client, job)]
        threads.append(threading.Thread(target=look))
        for thread in threads:
            thread.start()
        for thread in threads[:-1]:
            thread.join()
        enough.set()
        threads[-1].join()
        assert failures == []
        wait_for_results(postgres_database, crew, 2 * N_RUNS, timeout_s=PATIENCE_S)
        assert crew.ended() == [], crew.said()
    far.close()
    add_all_of(sqlite_database, ledger)

    assert set(statuses) <= {200, 429, 503}
    assert 200 in statuses
    assert (client.n_acknowledged, job.n_acknowledged) == (N_RUNS, N_RUNS)
    assert count_rows(postgres_database, RunRow) == 2 * N_RUNS
    with postgres_database.read() as session:
        per_run = select(func.count()).select_from(EvaluationRow).group_by(EvaluationRow.run_id)
        assert set(session.scalars(per_run)) == {1}
    assert_verified(postgres_database, ledger)


def test_a_transaction_that_the_server_ended_while_it_waited_is_a_clear_error(
    network: Network, postgres_database: Database
) -> None:
    rng = np.random.default_rng(1)
    truth, predicted = rng.integers(0, 9, (2, 30_000))
    # What is sent at this pace takes longer than the server waits in a transaction.
    far = Database(
        url_through(
            network, postgres_database, options="-c idle_in_transaction_session_timeout=300ms"
        )
    )
    network.bytes_per_s = 30_000

    # The last of several tries finds the server's farewell, or only that the connection is gone.
    with pytest.raises(DatabaseUnavailable, match=r"waited too long for the rest|be reached"):
        log(far, y_true=truth, y_pred=predicted, facts=RunFacts(name="run"))
    network.bytes_per_s = None
    far.close()

    assert count_rows(postgres_database, RunRow) == 0
