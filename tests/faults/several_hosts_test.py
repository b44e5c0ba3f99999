"""A team on five hosts, some of which fall silent: others go on, and nothing is lost or doubled.

Packets are dropped without a word, as by a pulled cable or a firewall: nobody is told that a
connection ended.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from offdiag.domain.access import Grant, Role
from offdiag.domain.runs import RunFacts
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from offdiag_workers.process import LEASE_LOST_EXIT_CODE
from support.access import add_person, token_of
from support.contents import count_rows
from support.hosts import hosts, postgres_on
from support.ledgers import assert_verified
from support.logging_runs import log
from support.slow_workers import BEGUN, SLOWLY, slow_worker, wait_until
from support.team_clients import TeamClient
from support.web_hosts import WebHost, web_hosts

pytestmark = [pytest.mark.processes, pytest.mark.postgres]

IS_LONG = "OFFDIAG_LONG" in os.environ
NOTICED = "" if IS_LONG else "?tcp_user_timeout=3000&connect_timeout=4"
"""By default a host that vanished is noticed after 15 seconds; a shorter time costs less here."""
JOBS = JobsSettings(lease_s=6.0, concurrency=1)
AN_HOUR = timedelta(hours=1)


def is_evaluated(database: Database, run_id: str) -> bool:
    with database.read() as session:
        found = select(EvaluationRow.id).where(EvaluationRow.run_id == run_id)
        return session.scalar(found) is not None


def test_hosts_that_fall_silent_are_replaced_and_come_back(tmp_path: Path) -> None:
    ledger, far, near = (tmp_path / name for name in ("ledger", "far.log", "near.log"))
    with (
        hosts("db", "web1", "web2", "work1", "work2") as (db, web1, web2, work1, work2),
        postgres_on(db) as (database, address),
    ):
        url = f"{address}{NOTICED}"
        add_person(database, "ada", Grant(Role.ADMIN))
        token = token_of(database, "ada", Role.EDITOR)
        servers = [
            WebHost("gunicorn", url, tmp_path / f"{host.name}.log", host=host)
            for host in (web1, web2)
        ]
        chosen = [server.url for server in servers]
        client = TeamClient("job", token, ledger, lambda: chosen)
        with (
            web_hosts(*servers),
            slow_worker(url, far, JOBS, host=work1, ahead=AN_HOUR) as cut,
        ):
            for _ in servers:
                client.log()
                chosen.reverse()
            run = log(
                database, dataset="slow", facts=RunFacts(name="slow", client_key=f"{SLOWLY}-1")
            )
            with ledger.open("a", encoding="utf-8") as entries:
                entries.write(f"{SLOWLY}-1 {run.content_digest}\n")
            wait_until(lambda: BEGUN in far.read_text(), far)

            work1.pull_cable()
            db.ignore(web1)
            chosen[:] = [servers[1].url] * 2
            with slow_worker(url, near, JOBS, host=work2, is_slow=False, ahead=-AN_HOUR) as other:
                wait_until(lambda: is_evaluated(database, run.id), near)
                wait_until(lambda: cut.poll() is not None, far)
                assert cut.returncode == LEASE_LOST_EXIT_CODE
                client.log()
                wait_until(
                    lambda: servers[0].readiness() == "database_unavailable", tmp_path / "ledger"
                )

                work1.plug_cable()
                db.heed(web1)
                servers[0].wait_until_ready()
                chosen[:] = [servers[0].url] * 2
                with slow_worker(
                    url, far, JOBS, host=work1, is_slow=False, ahead=AN_HOUR
                ) as again:
                    client.log()
                    wait_until(lambda: count_rows(database, WorkRow) == 0, near)
                    assert other.poll() is None
                    assert again.poll() is None
        client.close()

        assert client.failures == []
        n_logged = client.n_acknowledged + 1
        assert count_rows(database, RunRow) == count_rows(database, EvaluationRow) == n_logged
        assert_verified(database, ledger)
