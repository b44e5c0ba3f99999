"""Some seeded runs computed again, as `offdiag verify` does it with all."""

from __future__ import annotations

from random import Random

from offdiag.services.verification.checks import check_run
from offdiag.store.database import Database
from offdiag.store.retention import complete_runs


def recomputed(database: Database, number: int) -> int:
    """Of so many runs, drawn anew each time, those with which anything is wrong."""
    with database.read() as session:
        run_ids = complete_runs(session)
    wrong = 0
    for run_id in Random().sample(run_ids, min(number, len(run_ids))):
        with database.read() as session:
            wrong += bool(check_run(session, run_id))
    return wrong
