"""Networks that freeze, cut and crawl: slower, sometimes refused, never wrong."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from offdiag.domain.runs import RunFacts
from offdiag.errors import DatabaseUnavailable
from offdiag.store import postgres_connection
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from offdiag_workers.process import LEASE_LOST_EXIT_CODE
from support.contents import count_rows
from support.ledgers import Client, assert_verified
from support.logging_runs import log
from support.network import Network, Trap, network_to_server_of, url_through
from support.registries import dashboard
from support.worker_processes import wait_until, workers

pytestmark = [pytest.mark.processes, pytest.mark.postgres]

LEASE_S = 3.0
COMMIT = b"COMMIT\x00"


@pytest.fixture
def network(postgres_database: Database) -> Iterator[Network]:
    """A network to the server of `postgres_database`."""
    with network_to_server_of(postgres_database) as found:
        yield found


@pytest.fixture
def far_away(network: Network, postgres_database: Database) -> Iterator[Database]:
    """The same database by way of the network."""
    database = Database(url_through(network, postgres_database))
    yield database
    database.close()


@pytest.mark.parametrize("trap", [Trap.LOST_REQUEST, Trap.LOST_ANSWER])
def test_a_connection_cut_in_mid_commit_costs_one_turn_where_there_is_a_key(
    trap: Trap, network: Network, far_away: Database, postgres_database: Database
) -> None:
    network.set_trap(COMMIT, trap)

    run = log(far_away, facts=RunFacts(name="run", client_key="once"))

    assert network.n_trapped == 1
    assert count_rows(postgres_database, RunRow) == 1
    assert log(far_away, facts=RunFacts(name="run", client_key="once")).id == run.id


def test_without_a_key_a_commit_of_unknown_outcome_is_not_tried_again(
    network: Network, far_away: Database, postgres_database: Database
) -> None:
    network.set_trap(COMMIT, Trap.LOST_ANSWER)

    with pytest.raises(DatabaseUnavailable):
        log(far_away, facts=RunFacts(name="run"))

    assert count_rows(postgres_database, RunRow) == 1


@pytest.mark.parametrize("trap", [Trap.LOST_REQUEST, Trap.LOST_ANSWER])
@pytest.mark.parametrize("marker", [b"application_name", b"pg_catalog.version", b"hstore"])
@pytest.mark.parametrize("kind", ["read", "write", "migrate", "listen"])
def test_a_connection_cut_while_it_is_opened_is_opened_again(
    kind: str, marker: bytes, trap: Trap, network: Network, far_away: Database
) -> None:
    network.set_trap(marker, trap)

    with getattr(far_away, kind)() as transaction:
        assert transaction.execute(text("SELECT 1")).scalar() == 1

    assert network.n_trapped == 1


def test_a_server_that_lets_nobody_in_is_waited_for_once(
    network: Network, postgres_database: Database
) -> None:
    far_away = Database(url_through(network, postgres_database, connect_timeout="2"))
    network.freeze()
    began = time.monotonic()

    with pytest.raises(DatabaseUnavailable), far_away.read():
        pass

    assert time.monotonic() - began < 4
    far_away.close()


def thaw_for_the_second(network: Network) -> None:
    """Let nothing through until somebody has given up and comes with a new connection."""
    while not network.n_trapped:
        time.sleep(0.01)
    before = network.n_connections
    while network.n_connections == before:
        time.sleep(0.01)
    network.thaw()


def test_an_answer_that_never_comes_is_given_up(
    network: Network,
    far_away: Database,
    postgres_database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postgres_connection, "RESPONSE_TIMEOUT_S", 0.5)
    network.set_trap(COMMIT, Trap.FROZEN)
    thaw = threading.Thread(target=thaw_for_the_second, args=(network,))
    thaw.start()

    run = log(far_away, facts=RunFacts(name="run", client_key="once"))

    thaw.join()
    assert network.n_trapped == 1
    assert count_rows(postgres_database, RunRow) == 1
    assert log(far_away, facts=RunFacts(name="run", client_key="once")).id == run.id


def test_a_worker_frozen_in_mid_job_is_replaced_and_its_result_is_there_once(
    network: Network, postgres_database: Database, tmp_path: Path
) -> None:
    with workers(
        url_through(network, postgres_database), tmp_path / "far", number=1, lease_s=LEASE_S
    ) as far:
        log(postgres_database)
        wait_until(lambda: count_rows(postgres_database, EvaluationRow) == 1, far)
        network.set_trap(b"INSERT INTO evaluation", Trap.FROZEN)
        log(postgres_database)
        wait_until(lambda: network.n_trapped == 1, far)
        with workers(
            postgres_database.url, tmp_path / "near", number=1, lease_s=LEASE_S, supervised=True
        ) as near:
            wait_until(lambda: count_rows(postgres_database, EvaluationRow) == 2, near)
            wait_until(lambda: far.ended() == [LEASE_LOST_EXIT_CODE], far, timeout_s=30)
            network.thaw()
            wait_until(lambda: count_rows(postgres_database, WorkRow) == 0, near)

    assert count_rows(postgres_database, EvaluationRow) == 2


def test_every_connection_terminated_in_turn_under_load_costs_nobody_a_request(
    postgres_database: Database, tmp_path: Path
) -> None:
    client = Client(postgres_database, tmp_path / "ledger", Random(secrets.randbelow(2**32)))
    pages = dashboard(postgres_database).test_client()
    enough = threading.Event()
    statuses: list[int] = []
    refused: list[str] = []
    own = Database(postgres_database.url)

    def look() -> None:
        while not enough.is_set():
            answer = pages.get("/runs.json")
            if answer.status_code != 200:
                refused.append(answer.get_data(as_text=True))
            statuses.append(answer.status_code)

    def write() -> None:
        while not enough.is_set():
            client.log(client.n_acknowledged)
            enough.wait(0.05)

    with workers(postgres_database.url, tmp_path / "log", number=1, lease_s=LEASE_S) as crew:
        threads = [threading.Thread(target=each) for each in (look, write)]
        for thread in threads:
            thread.start()
        n_ended = 0
        while n_ended <= 8:
            n_ended += terminate_each(own, pause_s=0.05)
        enough.set()
        for thread in threads:
            thread.join()
        wait_until(lambda: count_rows(postgres_database, WorkRow) == 0, crew)
        assert crew.ended() == [], crew.said()
    own.close()

    assert set(statuses) == {200}, refused
    assert client.n_refused == 0
    assert_verified(postgres_database, client.ledger)


def terminate_each(database: Database, *, pause_s: float) -> int:
    """End the connections of all others, one after the other; returns how many there were."""
    with database.read() as session:
        pids = list(
            session.scalars(
                text(
                    "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                    " AND pid <> pg_backend_pid()"
                )
            )
        )
    for pid in pids:
        with database.listen() as connection:
            connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        time.sleep(pause_s)
    return len(pids)


class Injected(Exception):
    """What a driver raises, with a state that the server would name."""

    def __init__(self, sqlstate: str) -> None:
        super().__init__(sqlstate)
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("sqlstate", "n_failures"),
    [("40001", 3), ("40P01", 4), ("57P01", 4), ("08006", 4)],
)
def test_what_passes_is_tried_three_times_again_and_then_told(
    sqlstate: str, n_failures: int, postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("offdiag.store.retries.time.sleep", pauses.append)
    left = n_failures

    def fail(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        nonlocal left
        if left and (statement.startswith("INSERT INTO run ") or "FROM run" in statement):
            left -= 1
            raise OperationalError(statement, {}, Injected(sqlstate))

    pages = dashboard(postgres_database).test_client()
    engine = postgres_database._engines.writing
    event.listen(engine, "before_cursor_execute", fail)
    try:
        if n_failures == 4:
            with pytest.raises(DatabaseUnavailable):
                log(postgres_database)
        else:
            log(postgres_database)
        assert (len(pauses), left) == (min(n_failures, 3), 0)

        left = n_failures
        answer = pages.get("/runs")
        assert answer.status_code == (503 if n_failures == 4 else 200)
        assert ("Retry-After" in answer.headers) == (n_failures == 4)
        assert left == 0
    finally:
        event.remove(engine, "before_cursor_execute", fail)
    assert count_rows(postgres_database, RunRow) == (0 if n_failures == 4 else 1)
    assert len(set(pauses)) == len(pauses)
