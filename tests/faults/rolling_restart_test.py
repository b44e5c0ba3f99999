"""Servers and workers restarted one after the other under load: a retry is all it costs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from offdiag.domain.access import Grant, Role
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from support.access import add_person, token_of
from support.contents import count_rows
from support.ledgers import assert_verified
from support.team_clients import TeamClient, busy
from support.web_hosts import Kind, WebHost, web_hosts
from support.worker_processes import wait_until, workers

pytestmark = pytest.mark.processes

N_RESTARTS = 20 if "OFFDIAG_LONG" in os.environ else 2
LEASE_S = 10.0


class Proxy:
    """What a proxy does: looks who is ready, and sends requests there."""

    def __init__(self, hosts: Sequence[WebHost]) -> None:
        self.seen: dict[str, list[str]] = {host.url: [] for host in hosts}
        self._hosts = hosts
        self._turn = 0

    def chosen(self) -> list[str]:
        self._turn += 1
        urls = [host.url for host in self._hosts]
        turned = urls[self._turn % len(urls) :] + urls[: self._turn % len(urls)]
        return sorted(turned, key=lambda url: self.seen[url][-1:] != ["ready"])

    @contextmanager
    def looking(self) -> Iterator[None]:
        enough = threading.Event()

        def look() -> None:
            while not enough.is_set():
                for host in self._hosts:
                    found = host.readiness()
                    if self.seen[host.url][-1:] != [found]:
                        self.seen[host.url].append(found)
                enough.wait(0.2)

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            enough.set()
            thread.join()


@pytest.mark.postgres
def test_restarted_one_after_the_other_they_fail_no_request(
    postgres_database: Database, tmp_path: Path
) -> None:
    database = postgres_database
    add_person(database, "ada", Grant(Role.ADMIN))
    token = token_of(database, "ada", Role.EDITOR)
    kinds: tuple[Kind, Kind] = ("serve", "gunicorn")
    hosts = [WebHost(kind, database.url, tmp_path / f"{kind}.log") for kind in kinds]
    proxy = Proxy(hosts)
    ledger = tmp_path / "ledger"
    client = TeamClient("job", token, ledger, proxy.chosen)

    with (
        workers(database.url, tmp_path / "workers.log", number=2, lease_s=LEASE_S) as crew,
        web_hosts(*hosts),
        proxy.looking(),
        busy([client]),
    ):
        crew.wait_until_ready()
        for number in range(N_RESTARTS):
            host = hosts[number % 2]
            host.stop()
            worker = crew.living.pop(0)
            worker.terminate()
            assert host.wait() == 0, host.said()
            assert worker.wait(12) == 0, crew.said()
            host.start()
            crew.start()
            crew.wait_until_ready()
            host.wait_until_ready()
            time.sleep(0.3)
    with workers(database.url, tmp_path / "workers.log", number=1, lease_s=LEASE_S) as crew:
        wait_until(lambda: count_rows(database, WorkRow) == 0, crew)

    assert client.failures == []
    for seen in proxy.seen.values():
        assert seen.count("draining") >= N_RESTARTS // 2, seen
        assert {before for before, found in pairwise(seen) if found == "gone"} == {"draining"}
    n_logged = client.n_acknowledged
    assert n_logged > N_RESTARTS
    assert count_rows(database, RunRow) == count_rows(database, EvaluationRow) == n_logged
    assert_verified(database, ledger)
