"""Logging over HTTP while the server is killed, and while the job is: one run, all of it, once."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import offdiag
from offdiag.services.verification.verify import verify
from offdiag.store import predictions, runs
from offdiag.store.database import Database
from offdiag.store.runs import RunRecord
from support.processes import clean_environment, running
from support.servers import server_process

pytestmark = pytest.mark.processes

SCRIPT = Path(__file__).parents[1] / "support" / "train_over_http.py"
N = 80_000


@pytest.fixture
def job_folder(tmp_path: Path) -> Path:
    """A folder of a stranger."""
    folder = tmp_path / "job"
    folder.mkdir()
    shutil.copy(SCRIPT, folder / "train.py")
    return folder


def started(
    folder: Path, url: str, n: int, *options: str
) -> AbstractContextManager[subprocess.Popen[str]]:
    return running(
        [sys.executable, "train.py", url, str(n), *options], cwd=folder, env=clean_environment()
    )


def wait_until_logged(job: subprocess.Popen[str], n: int) -> None:
    assert job.stdout is not None
    for line in job.stdout:
        if int(line) >= n:
            return
    raise AssertionError(job.communicate()[1])


def outcome_of(job: subprocess.Popen[str]) -> dict[str, Any]:
    output, errors = job.communicate(timeout=120)
    assert job.returncode == 0, errors
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def the_only_run(database_url: str) -> RunRecord:
    """The run, after everything that is stored was checked."""
    database = Database(database_url)
    try:
        checked = verify(database)
        assert checked.is_clean, checked.findings
        assert checked.n_runs == 1
        run_id = str(offdiag.search_runs(url=database_url)["run_id"].iloc[0])
        with database.read() as session:
            return runs.get_run(session, run_id)
    finally:
        database.close()


def predictions_of(run_id: str, database_url: str) -> str:
    """A digest of all codes and scores of a run, however they are cut into chunks."""
    database = Database(database_url)
    content = hashlib.sha256()
    with database.read() as session:
        for part in predictions.read_chunks(session, run_id, n_classes=2):
            content.update(part.predicted.tobytes())
        scores = predictions.read_scores(session, run_id)
        assert scores is not None
        content.update(scores.tobytes())
    database.close()
    return content.hexdigest()


def test_a_server_killed_in_mid_upload_costs_nothing(job_folder: Path, tmp_path: Path) -> None:
    with (
        server_process(tmp_path, "--no-worker") as server,
        started(job_folder, server.url, N, "scores") as job,
    ):
        wait_until_logged(job, N // 3)

        server.kill()
        server.start()
        outcome = outcome_of(job)

    served, own = (f"sqlite:///{tmp_path / name}.db" for name in ("registry", "embedded"))
    with started(job_folder, own, N, "scores") as job:
        expected = outcome_of(job)
    stored, twin = the_only_run(served), the_only_run(own)
    assert (stored.id, twin.id) == (outcome["id"], expected["id"])
    assert stored.n_predictions == twin.n_predictions == N
    assert predictions_of(stored.id, served) == predictions_of(twin.id, own)


def test_a_killed_job_goes_on_where_it_is_started_again(job_folder: Path, tmp_path: Path) -> None:
    n = 100_000
    with server_process(tmp_path) as server:
        with started(job_folder, server.url, n) as first:
            wait_until_logged(first, 70_000)
        with started(job_folder, server.url, n) as second:
            outcome = outcome_of(second)

    with started(job_folder, f"sqlite:///{tmp_path / 'embedded.db'}", n) as job:
        expected = outcome_of(job)
    stored = the_only_run(f"sqlite:///{tmp_path / 'registry.db'}")
    assert (stored.id, stored.n_predictions) == (outcome["id"], n)
    assert outcome["evaluation"] == expected["evaluation"]
