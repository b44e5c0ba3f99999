"""offdiag's worker: what it does with a run that somebody else has logged.

`job` reads the predictions from SQLite, computes every metric with intervals, judges flags and
stores all of it. Its run is new in each turn, because counts are kept once they are there, and
logged by a process of its own, so that the memory of this one is a worker's.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from peer_work.turns import Answers, Work, take_turns

from offdiag.services.jobs.attempts import Outcome, RetryPolicy
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.run_job import run_next_job
from offdiag.store.database import Database
from offdiag.store.schema import open_database

_LOG = """
import sys
import numpy as np
import offdiag
actual, given = np.load(sys.argv[1])
scores = {"y_score": given, "positive_label": 1} if "scores" in sys.argv[1] else {}
offdiag.log_run(
    y_true=actual.astype(int),
    y_pred=(given >= 0.5 if scores else given).astype(int),
    name="run",
    dataset=sys.argv[1],
    url=sys.argv[2],
    **scores,
)
"""


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        database = open_database(f"sqlite:///{place}/registry.db")
        stack.callback(database.close)
        keeper = stack.enter_context(LeaseKeeper(database, lease_s=60))
        cases = {
            f"job {size}": Work(
                partial(_do_job, database, keeper),
                partial(_log, folder / f"{size}.npy", database.url),
            )
            for size in ("1e5", "1e6", "scores 1e5", "scores 1e6")
        }
        take_turns(("offdiag", "numpy", "sqlalchemy"), cases)


def _log(sample: Path, url: str) -> None:
    subprocess.run([sys.executable, "-c", _LOG, str(sample), url], check=True)


def _do_job(database: Database, keeper: LeaseKeeper, _: None) -> Answers:
    assert run_next_job(database, keeper, RetryPolicy()) is Outcome.DONE
    return {}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
