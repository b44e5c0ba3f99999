"""The disk says that it could not keep what it was given: errors, and nothing acknowledged lost.

strace lets every second call that waits for the disk fail, as a broken disk does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import update

from offdiag.services.verification.verify import read_ledger, verify
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from support.contents import count_rows
from support.logging_runs import work_off
from support.processes import TESTS

pytestmark = pytest.mark.processes

N_RUNS = 8


@pytest.fixture(scope="module")
def strace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Its path, where it may trace: a container can forbid it."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("strace is not installed")
    tried = subprocess.run(
        [found, "-qq", "-o", tmp_path_factory.mktemp("strace") / "trace", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode:
        pytest.skip(f"strace may not trace here: {tried.stderr.strip()}")
    return found


def test_every_second_wait_for_the_disk_fails_and_nothing_acknowledged_is_lost(
    sqlite_database: Database, tmp_path: Path, strace: str
) -> None:
    ledger, trace = tmp_path / "ledger", tmp_path / "trace"
    sqlite_database.close()

    done = subprocess.run(
        [
            *(strace, "--follow-forks", "--seccomp-bpf", "-qq", "-o", str(trace)),
            *("-e", "trace=fsync,fdatasync"),
            *("-e", "inject=fsync,fdatasync:error=EIO:when=1+2"),
            *(sys.executable, "-m", "support.log_through_faults"),
            *(sqlite_database.url, str(ledger), str(N_RUNS)),
        ],
        cwd=TESTS,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["refused"] > 0
    assert trace.read_text().count("INJECTED") > N_RUNS / 5
    entries = read_ledger(ledger)
    assert len(entries) == count_rows(sqlite_database, RunRow) == N_RUNS
    with sqlite_database.write() as session:
        session.execute(update(WorkRow).values(lease_until=WorkRow.lease_until - 3600))
    work_off(sqlite_database)
    assert verify(sqlite_database, ledger=entries).findings == ()
    assert count_rows(sqlite_database, EvaluationRow) == N_RUNS
