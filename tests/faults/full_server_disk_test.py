"""The disk under PostgreSQL itself is full: nothing acknowledged is lost, and it comes back."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from offdiag.errors import DatabaseUnavailable, StorageFull
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from support.contents import count_rows
from support.crashing_postgres import crashing_server
from support.ledgers import Client, verify_with
from support.logging_runs import log
from support.registries import dashboard
from support.worker_processes import wait_until, workers

pytestmark = [pytest.mark.processes, pytest.mark.postgres]

DISK_MIB = 160
N_RUNS = 5
LEASE_S = 3.0


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk for a server of its own, on a path that the user whom it runs as may follow."""
    with tempfile.TemporaryDirectory(prefix="offdiag-disk-") as folder:
        Path(folder).chmod(0o755)
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=755", "tmpfs", folder],
            capture_output=True,
            text=True,
            check=False,
        )
        if mounted.returncode:
            pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
        yield Path(folder)
        subprocess.run(["umount", folder], check=True)


def fill(filler: Path) -> None:
    """Leave no room at all beside a file."""
    with filler.open("ab", buffering=0) as file, suppress(OSError):
        while file.write(bytes(1 << 16)):
            pass


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
    small_disk: Path, tmp_path: Path
) -> None:
    filler = small_disk / "filler"
    with (
        crashing_server(small_disk) as server,
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
        checked = verify_with(database, client.ledger)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        database.close()
