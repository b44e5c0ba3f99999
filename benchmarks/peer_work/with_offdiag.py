"""offdiag: metrics of arrays, a worker's job on a stored run, and a matrix alone.

`evaluate` counts and computes every metric, as the peers do. `job` is what a worker does with
a run that was logged: it reads the predictions from SQLite, computes every metric with
intervals, judges flags and stores all of it. Its run is new in each turn, because counts are
kept once they are there. `log` is the call before it, which stores a million predictions.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from peer_work.turns import Answers, Work, take_turns

import offdiag
from offdiag.metrics.counting import count_pairs
from offdiag.services.work.leases import LeaseKeeper
from offdiag.services.work.perform import Outcome, RetryPolicy, perform
from offdiag.services.work.submit import evaluation_key
from offdiag.store import work
from offdiag.store.database import Database
from offdiag.store.schema import open_database

Columns = NDArray[np.int64]
"""Actual and predicted classes, shape (2, n)."""
_KEYS = {
    "accuracy": "overall_accuracy",
    "macro F1": "macro_f1",
    "MCC": "mcc",
    "kappa": "cohen_kappa",
}


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        url = f"sqlite:///{place}/registry.db"
        database = open_database(url)
        stack.callback(database.close)
        keeper = stack.enter_context(LeaseKeeper(database, lease_s=60))
        cases = {}
        for size in ("1e5", "1e6"):
            path = folder / f"{size}.npy"
            cases[f"evaluate {size}"] = Work(_evaluate, partial(np.load, path))
            cases[f"log {size}"] = Work(partial(_log, url), partial(np.load, path))
            cases[f"job {size}"] = Work(
                partial(_do_job, database, keeper), partial(_asked, path, database)
            )
        cases["matrix 1e7"] = _counting(folder / "1e7.npy")
        take_turns(("offdiag", "numpy", "sqlalchemy"), cases)


def _evaluate(columns: Columns) -> Answers:
    actual, predicted = columns
    aggregate = offdiag.evaluate_labels(y_true=actual, y_pred=predicted).aggregate
    values = {name: aggregate[key].value for name, key in _KEYS.items()}
    return {name: value for name, value in values.items() if value is not None}


def _log(url: str, columns: Columns) -> Answers:
    _logged(url, columns)
    return {}


def _logged(url: str, columns: Columns) -> offdiag.Run:
    actual, predicted = columns
    return offdiag.log_run(
        y_true=actual, y_pred=predicted, name="run", dataset=f"{len(actual)} cases", url=url
    )


def _asked(path: Path, database: Database) -> int:
    """Log a run; the id of the work that asks for its evaluation."""
    run = _logged(database.url, np.load(path))
    with database.read() as session:
        found = work.find_by_key(session, evaluation_key(run.id))
    assert found is not None
    return found.work_id


def _do_job(database: Database, keeper: LeaseKeeper, work_id: int) -> Answers:
    assert perform(database, work_id, keeper, RetryPolicy()) is Outcome.DONE
    return {}


def _counting(path: Path) -> Work:
    def codes() -> list[NDArray[np.uint8]]:
        # As they lie in the store.
        return [column.astype(np.uint8) for column in np.load(path)]

    def do(columns: list[NDArray[np.uint8]]) -> Answers:
        counts = count_pairs(*columns, n_classes=10)
        return {"accuracy": float(np.trace(counts) / counts.sum())}

    return Work(do, codes)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
