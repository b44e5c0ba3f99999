"""A client killed at any statement, and called again, leaves what an undisturbed one leaves."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from offdiag.store.database import Database
from support.operations import DEEDS
from support.quick_starts import run_quickly

pytestmark = pytest.mark.processes

KILL_POINTS = Path(__file__).parent.parent / "support" / "kill_points.py"


@pytest.mark.parametrize(
    ("deed", "at_least"),
    [
        ("log_run", 20),
        ("log_matrix", 10),
        ("finish", 20),
        ("revise_truth and score", 30),
        ("tick", 5),
    ],
)
def test_killed_between_any_two_statements(
    sqlite_database: Database, tmp_path: Path, deed: str, at_least: int
) -> None:
    DEEDS[deed].prepare(sqlite_database)
    assert sqlite_database.path is not None
    sqlite_database.close()
    original = shutil.copy(sqlite_database.path, tmp_path / "original.db")

    done = run_quickly(
        [sys.executable, KILL_POINTS, original, deed],
        env={**os.environ, "OFFDIAG_REPORTS__FOLDER": str(tmp_path / "reports")},
    )

    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["killed"] for line in lines] == [True] * (len(lines) - 1) + [False]
    assert lines[-1]["n"] > at_least, "there are fewer statements than when this was written"
    assert len({line["contents"] for line in lines}) == 1
