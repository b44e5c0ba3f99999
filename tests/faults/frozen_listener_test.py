"""A worker listens to a connection from which nothing comes any more: it looks by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow
from support.contents import count_rows
from support.listening_workers import listening_worker
from support.logging_runs import log
from support.network import Network, network_to_server_of, url_through

pytestmark = [pytest.mark.processes, pytest.mark.postgres]

LOOKS = JobsSettings()
"""It looks each second."""
ONLY_LISTENS = JobsSettings(poll_ms=60_000)
"""It looks so rarely that what is done before that was heard of."""
PATIENCE_S = 45
"""Less than the time between two looks."""
MOST_FOUND = 5
"""Of runs that nobody told it of."""
LISTENING = text(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
)


@pytest.fixture
def network(postgres_database: Database) -> Iterator[Network]:
    """A network to the server, which knows over which connection somebody listens."""
    with network_to_server_of(postgres_database) as found:
        found.watch(b'LISTEN "')
        yield found


def wait_until(condition: Callable[[], bool], log: Path) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < give_up_at, log.read_text(encoding="utf-8")
        time.sleep(0.02)


def listeners(database: Database) -> set[int]:
    """Who listens, as the server knows it."""
    with database.read() as session:
        return set(session.scalars(LISTENING))


def test_work_is_found_while_nothing_is_heard(
    network: Network, postgres_database: Database, tmp_path: Path
) -> None:
    said = tmp_path / "log"
    with listening_worker(url_through(network, postgres_database), said, LOOKS):
        wait_until(lambda: len(listeners(postgres_database)) == 1, said)
        assert network.freeze_watched() == 1

        for number in (1, 2):
            log(postgres_database)
            wait_until(lambda: count_rows(postgres_database, EvaluationRow) == number, said)  # noqa: B023


def test_it_hears_again_after_a_thaw_and_listens_anew_after_a_cut(
    network: Network, postgres_database: Database, tmp_path: Path
) -> None:
    said = tmp_path / "log"

    def n_results() -> int:
        return count_rows(postgres_database, EvaluationRow)

    with listening_worker(url_through(network, postgres_database), said, ONLY_LISTENS):
        wait_until(lambda: len(listeners(postgres_database)) == 1, said)
        log(postgres_database)
        wait_until(lambda: n_results() == 1, said)

        assert network.freeze_watched() == 1
        n_logged = 1
        # What it was about to look for when it was cut off it may still find.
        while n_results() == n_logged:
            assert n_logged < MOST_FOUND, "it does not only listen"
            log(postgres_database)
            n_logged += 1
            time.sleep(0.5)
        network.thaw()
        wait_until(lambda: n_results() == n_logged, said)

        before = listeners(postgres_database)
        assert network.freeze_watched() == 1
        log(postgres_database)
        network.cut()
        wait_until(lambda: len(listeners(postgres_database) - before) == 1, said)
        log(postgres_database)
        wait_until(lambda: n_results() == n_logged + 2, said)
