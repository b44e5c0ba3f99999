"""Short ways to log runs straight into a database of a test."""

from __future__ import annotations

from typing import Any

from offdiag.domain.runs import RunFacts
from offdiag.services.evaluation.results import evaluation_of
from offdiag.services.ingest.batch import Predictions
from offdiag.services.ingest.log_predictions import log_predictions
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.run_job import run_next_job
from offdiag.store.database import Database
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.runs import RunRecord

POLICY = RetryPolicy(max_attempts=5, first_delay_s=0.0)

ACTUAL = ["a", "a", "b", "b", "c", "c"]
PREDICTED = ["a", "b", "b", "b", "c", "a"]


def log(
    database: Database,
    *,
    y_pred: object = PREDICTED,
    y_true: object | None = ACTUAL,
    dataset: str | None = "holdout",
    facts: RunFacts | None = None,
    **given: Any,
) -> RunRecord:
    """Log one run of six cases and three classes, or whatever is given instead."""
    return log_predictions(
        database,
        facts=facts or RunFacts(name="run"),
        dataset=dataset,
        given=Predictions(y_pred=y_pred, y_true=y_true, **given),
    )


def work_off(database: Database) -> None:
    """Do all due work in this thread."""
    with LeaseKeeper(database, lease_s=30) as keeper:
        while run_next_job(database, keeper, POLICY) is not None:
            pass


def evaluate(database: Database, run_id: str) -> StoredEvaluation:
    """The evaluation of a run, done here."""
    work_off(database)
    return evaluation_of(database, run_id, timeout_s=5, lease_s=30, policy=POLICY)
