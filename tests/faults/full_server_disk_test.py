"""The disk under PostgreSQL itself is full: nothing acknowledged is lost, and it comes back."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from offdiag.errors import DatabaseUnavailable, StorageFull
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from support.contents import count_rows
from support.crashing_postgres import crashing_server
from support.full_disks import fill, small_disk
from support.ledgers import Client, assert_verified
from support.logging_runs import log
from support.registries import dashboard
from support.worker_processes import wait_until, workers

pytestmark = [pytest.mark.processes, pytest.mark.postgres]

DISK_MIB = 160
N_RUNS = 5
LEASE_S = 3.0


@pytest.fixture
def disk() -> Iterator[Path]:
    """A disk for a server of its own, on a path that the user whom it runs as may follow."""
    with tempfile.TemporaryDirectory(prefix="offdiag-disk-") as folder:
        Path(folder).chmod(0o755)
        with small_disk(Path(folder), f"size={DISK_MIB}m", "mode=755"):
            yield Path(folder)


def refused(database: Database, filler: Path) -> DatabaseUnavailable:
    """What is said once there is no room, however much the server had set aside for itself."""
    truth = list("abcdefgh") * 20_000
    for number in range(200):
        fill(filler)
        try:
            log(database, y_true=truth, y_pred=truth[number:] + truth[:number], dataset="large")
        except DatabaseUnavailable as error:
            return error
    raise AssertionError("there is room for all of them")


def test_a_server_whose_disk_is_full_keeps_what_it_acknowledged_and_goes_on(
    disk: Path, tmp_path: Path
) -> None:
    filler = disk / "filler"
    with (
        crashing_server(disk) as server,
        workers(server.url, tmp_path / "log", number=1, lease_s=LEASE_S) as crew,
    ):
        database = Database(server.url)
        pages = dashboard(database).test_client()
        client = Client(database, tmp_path / "ledger", Random(7), lambda: time.sleep(0.1))
        for number in range(N_RUNS):
            client.log(number)
        refusal = refused(database, filler)
        while_full = pages.get("/runs").status_code

        filler.unlink()
        client.log(N_RUNS)
        wait_until(lambda: count_rows(database, WorkRow) == 0, crew)

        assert isinstance(refusal, StorageFull)
        assert "the disk is full" in refusal.message
        assert while_full == 200
        assert crew.ended() == [], crew.said()
        assert count_rows(database, EvaluationRow) == count_rows(database, RunRow)
        assert_verified(database, client.ledger)
        database.close()
