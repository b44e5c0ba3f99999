"""A PostgreSQL server that crashes under load: what was acknowledged is stored and evaluated."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path
from random import Random

import pytest

from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, WorkRow
from support.contents import count_rows
from support.crashing_postgres import crashing_server
from support.ledgers import Client, assert_verified
from support.registries import dashboard
from support.worker_processes import wait_for_results, wait_until, workers

pytestmark = [pytest.mark.processes, pytest.mark.postgres]

N_CRASHES = 2
SERVING_AGAIN_S = 20
LEASE_S = 12.0
"""Workers end themselves after two thirds of it, which starting a server again must not take."""


def test_crashed_again_and_again_it_loses_nothing_and_the_workers_go_on(tmp_path: Path) -> None:
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")  # noqa: T201
    random = Random(seed)
    enough = threading.Event()

    with (
        crashing_server() as server,
        workers(server.url, tmp_path / "log", number=2, lease_s=LEASE_S) as crew,
    ):
        database = Database(server.url)
        pages = dashboard(database).test_client()
        client = Client(database, tmp_path / "ledger", random, lambda: enough.wait(0.05))

        def log_until_enough() -> None:
            while not enough.is_set():
                client.log(client.n_acknowledged)
                enough.wait(0.2)

        logger = threading.Thread(target=log_until_enough)
        logger.start()
        for _ in range(N_CRASHES):
            wanted = count_rows(database, EvaluationRow) + random.randrange(2, 6)
            wait_for_results(database, crew, wanted)
            server.crash()
            away = pages.get("/runs")
            assert (away.status_code, away.headers["Retry-After"]) == (503, "5")
            enough.wait(random.random())
            server.start()
            assert pages.get("/runs").status_code == 200
            wanted = count_rows(database, EvaluationRow) + 1
            wait_for_results(database, crew, wanted, timeout_s=SERVING_AGAIN_S)
        enough.set()
        logger.join()
        wait_until(lambda: count_rows(database, WorkRow) == 0, crew)

        assert crew.ended() == [], crew.said()
        assert client.n_refused > 0
        assert count_rows(database, EvaluationRow) == client.n_acknowledged
        assert_verified(database, client.ledger)
        database.close()
