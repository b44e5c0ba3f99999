"""What runs take on disk and in the log of PostgreSQL, and how long evaluating and saving take.

    python benchmarks/storage.py [--full]

Runs of `N` predictions of two classes on one dataset, each case with one score: the first one
brings the labels, the others find them. `--full` logs more runs. docs/scale.md extrapolates from
this.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import psycopg
from harness import Report, wants_everything
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from offdiag.services.retention.backups import back_up
from offdiag.store.database import Database
from offdiag.store.schema import upgrade
from support.logging_runs import log, work_off
from support.postgres import lasting_server

N = 100_000
RAW = 5
"""Bytes per prediction: one for its class, four for its score."""
_TABLES = """
    SELECT relname, pg_total_relation_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname
"""


def main() -> None:
    n_runs = 100 if wants_everything(__doc__ or "") else 20
    report = Report("storage", libraries=("numpy", "sqlalchemy", "psycopg", "pyarrow"))
    with lasting_server() as lasting, tempfile.TemporaryDirectory() as folder:
        url = lasting.url("postgres")
        database = Database(url)
        upgrade(database)
        rng = np.random.default_rng(1)
        truth = rng.integers(0, 2, N)
        with psycopg.connect(url, autocommit=True) as server:
            report.fact("server", _one(server, "SHOW server_version"))
            _log_one(database, rng, truth)
            work_off(database)
            before, log_before = _sizes(server), _log_position(server)
            for _ in range(n_runs):
                _log_one(database, rng, truth)
            logged = _log_position(server)
            started = process_time()
            work_off(database)
            evaluation_s = (process_time() - started) / n_runs
            server.execute("CHECKPOINT")
            after, log_after = _sizes(server), _log_position(server)
            rows = _rows(server)
        started = perf_counter()
        path = Path(folder) / "backup.zip"
        back_up(database, path)
        backup_s = perf_counter() - started
        database.close()

        report.fact("predictions of a run", N)
        report.fact("runs", n_runs)
        for table, size in after.items():
            grown = (size - before[table]) / n_runs
            if grown > 0:
                report.fact(f"bytes of a run in {table}", round(grown))
                report.fact(f"rows of a run in {table}", round(rows[table] / (n_runs + 1), 2))
        report.fact("bytes of a run in all tables", round(_grown(before, after) / n_runs))
        report.fact("bytes of a prediction", round(_grown(before, after) / n_runs / N, 3))
        report.fact("raw bytes of a prediction", RAW)
        report.fact("log bytes of a prediction", round((logged - log_before) / n_runs / N, 3))
        report.fact("log bytes of a run, evaluating", round((log_after - logged) / n_runs))
        report.fact("processor seconds to evaluate a run", round(evaluation_s, 4))
        saved = path.stat().st_size / (n_runs + 1) / N
        report.fact("backup, bytes of a prediction", round(saved, 3))
        report.fact("backup, predictions a second", round((n_runs + 1) * N / backup_s))
        report.goal(
            "bytes on disk / raw bytes",
            measured=_grown(before, after) / n_runs / N / RAW,
            wanted=1.25,
            at_least=False,
        )
    report.save()


def _log_one(database: Database, rng: np.random.Generator, truth: NDArray[np.int64]) -> None:
    score = np.clip(truth * 0.3 + rng.random(N) * 0.7, 0, 1).astype(np.float32)
    log(database, y_true=truth, y_pred=(score > 0.5).astype(int), y_score=score, positive_label=1)


def _one(server: psycopg.Connection, question: str) -> str:
    row = server.execute(question.encode()).fetchone()
    assert row is not None
    return str(row[0])


def _sizes(server: psycopg.Connection) -> dict[str, int]:
    return dict(server.execute(_TABLES).fetchall())


def _rows(server: psycopg.Connection) -> dict[str, int]:
    return {
        table: int(_one(server, f'SELECT count(*) FROM "{table}"')) for table in _sizes(server)
    }


def _log_position(server: psycopg.Connection) -> int:
    return int(_one(server, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"))


def _grown(before: dict[str, int], after: dict[str, int]) -> int:
    return sum(after.values()) - sum(before.values())


if __name__ == "__main__":
    main()
