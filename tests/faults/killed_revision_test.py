"""A correction of labels and the scoring after it, killed at any moment, end as if undisturbed.

Between any two statements on SQLite it is killed in `killed_client_test.py`.
"""

from __future__ import annotations

import secrets
import subprocess
import time
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import make_url

from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.reconcile import reconcile
from offdiag.store.database import Database
from offdiag.store.models import WorkRow
from support.contents import contents, count_rows
from support.corrections import fill, revise
from support.logging_runs import work_off
from support.operations import opened
from support.postgres import PostgresServer
from support.processes import said_first
from support.quick_starts import forked
from support.worker_processes import wait_until, workers

pytestmark = [pytest.mark.processes, pytest.mark.postgres]

ROUNDS = 1


def test_killed_at_random_moments_the_content_is_that_of_an_undisturbed_registry(
    postgres_database: Database, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")  # noqa: T201
    random = Random(seed)
    fill(postgres_database)
    postgres_database.close()
    name = "undisturbed"
    template = make_url(postgres_database.url).database or ""
    undisturbed = opened(postgres_server.create(name, template=template))
    for number in range(ROUNDS):
        revise(undisturbed.url, number)
        work_off(undisturbed)

    with workers(
        postgres_database.url, tmp_path / "log", number=2, lease_s=3.0, supervised=True
    ) as crew:
        for number in range(ROUNDS):
            client = forked(revise, postgres_database.url, number, stdout=subprocess.PIPE)
            assert said_first(client) == "begun"
            time.sleep(random.random() * 0.06)
            client.end()
            revise(postgres_database.url, number)
            for _ in range(2):
                time.sleep(random.random() * 0.2)
                crew.kill_one(random)
                crew.start()
            wait_until(lambda: count_rows(postgres_database, WorkRow) == 0, crew)

    disturbed = contents(postgres_database, in_any_order=True)
    assert disturbed == contents(undisturbed, in_any_order=True)
    assert reconcile(postgres_database, RetryPolicy()).submitted == 0
    undisturbed.close()
    postgres_server.drop(name)
