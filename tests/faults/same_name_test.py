"""Many runs of one name at the same moment, on a dataset that none of them finds there.

Each has to find or make the project, the dataset and its ground truth, and all of them the same.
With OFFDIAG_LONG hundreds are logged, else some.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from offdiag.store.models import DatasetRow, EvaluationRow, ProjectRow, RunRow, TruthVersionRow
from support.contents import count_rows
from support.logging_runs import work_off
from support.namesakes import log_namesakes
from support.quick_starts import forked

N_PROCESSES = 4
RUNS_OF_EACH = 125 if "OFFDIAG_LONG" in os.environ else 2
UNTIL_ALL_ARE_THERE_S = 1.0


@pytest.mark.processes
def test_runs_of_one_name_logged_at_once_are_runs_of_their_own(
    database: Database, tmp_path: Path
) -> None:
    start_at = time.monotonic() + UNTIL_ALL_ARE_THERE_S
    notes = [tmp_path / f"ids-{number}" for number in range(N_PROCESSES)]
    jobs = [
        forked(log_namesakes, database.url, str(note), start_at, RUNS_OF_EACH) for note in notes
    ]

    assert [job.wait() for job in jobs] == [0] * N_PROCESSES
    ids = [line for note in notes for line in note.read_text().splitlines()]
    n_runs = N_PROCESSES * RUNS_OF_EACH
    assert len(set(ids)) == len(ids) == n_runs
    assert count_rows(database, RunRow) == n_runs
    for made_once in (ProjectRow, DatasetRow, TruthVersionRow):
        assert count_rows(database, made_once) == 1
    work_off(database)
    assert count_rows(database, EvaluationRow) == n_runs
    assert verify(database).is_clean
