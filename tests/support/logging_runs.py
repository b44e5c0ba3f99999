"""Short ways to log runs straight into a database of a test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.services.evaluation.results import evaluation_of
from offdiag.services.ingest.batch import Batch, GivenMatrix, Predictions, read_batch
from offdiag.services.ingest.chunks import put_chunk
from offdiag.services.ingest.finish_run import finish_run
from offdiag.services.ingest.log_counts import log_matrix
from offdiag.services.ingest.log_predictions import OpenedRun, log_predictions, open_run
from offdiag.services.jobs.attempts import Outcome, RetryPolicy
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.run_job import run_next_job
from offdiag.services.truth.revise import Revision, revise_truth
from offdiag.settings import JobsSettings
from offdiag.store.database import Database
from offdiag.store.evaluations import StoredEvaluation, current_evaluation
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


def log_ill(
    database: Database,
    *,
    y_true: Sequence[str],
    p: Sequence[float],
    cut: float = 0.5,
    dataset: str = "clinic",
    **given: Any,
) -> RunRecord:
    """Log the probability of being ill, which is predicted from a cut on or as it is given."""
    cases: dict[str, Any] = {
        "y_pred": ["ill" if each >= cut else "well" for each in p],
        "y_score": p,
        "labels": ["well", "ill"],
        "positive_label": "ill",
    }
    return log(database, y_true=y_true, dataset=dataset, **(cases | given))


def opened(
    database: Database,
    dataset: str = "holdout",
    labels: LabelSet | None = None,
    *,
    facts: RunFacts | None = None,
    positive_label: str | None = None,
) -> OpenedRun:
    """Open a run and log nothing."""
    return open_run(
        database,
        facts=facts or RunFacts(name="open"),
        dataset=dataset,
        labels=labels,
        positive_label=positive_label,
    )


def batch_of(labels: LabelSet, *, positive_label: str | None = None, **given: Any) -> Batch:
    """A chunk of what is given."""
    columns: dict[str, Any] = {"y_true": None, "y_score": None, "ids": None} | given
    return read_batch(labels=labels, positive_label=positive_label, **columns)


def stream(
    database: Database,
    parts: Iterable[Mapping[str, Any]],
    dataset: str = "holdout",
    labels: LabelSet | None = None,
    *,
    facts: RunFacts | None = None,
    positive_label: str | None = None,
) -> RunRecord:
    """Log a run in chunks, each of which is given as for `batch_of`."""
    run = opened(database, dataset, labels, facts=facts, positive_label=positive_label)
    for seq, part in enumerate(parts):
        batch = batch_of(run.dataset.labels, positive_label=positive_label, **part)
        put_chunk(database, run.run.id, seq, batch)
    return finish_run(database, run.run.id)


def upload_matrix(
    database: Database,
    matrix: ArrayLike,
    labels: Sequence[str] | None,
    *,
    name: str = "matrix",
    dataset: str = "matrix",
    project: str = "default",
    orientation: str = "actual_rows",
) -> RunRecord:
    """Log a matrix without predictions."""
    return log_matrix(
        database,
        facts=RunFacts(name=name, project=project),
        dataset=dataset,
        given=GivenMatrix(matrix, orientation, labels),
    )


def correct_labels(
    database: Database,
    labels: object,
    *,
    dataset: str = "holdout",
    project: str = "default",
    reason: str = "second look",
    author: str | None = None,
    version: int | None = None,
) -> Revision:
    """Correct labels of a dataset."""
    return revise_truth(
        database,
        project=project,
        dataset=dataset,
        labels=labels,
        reason=reason,
        author=author,
        version=version,
    )


def work_off(database: Database) -> None:
    """Do all due work in this thread."""
    with LeaseKeeper(database, lease_s=30) as keeper:
        while run_next_job(database, keeper, POLICY) is not None:
            pass


def run_step(database: Database) -> Outcome | None:
    """Do the next job that is due, None where there is none."""
    with LeaseKeeper(database, lease_s=30) as keeper:
        return run_next_job(database, keeper, POLICY)


def counts_of(database: Database, run_id: str) -> list[list[int]]:
    """The confusion matrix of a run, once all due work is done."""
    work_off(database)
    with database.read() as session:
        found = current_evaluation(session, run_id)
    assert found is not None
    return found.matrix.counts.tolist()  # type: ignore[no-any-return]


def evaluate(database: Database, run_id: str) -> StoredEvaluation:
    """The evaluation of a run, done here."""
    work_off(database)
    return evaluation_of(database, run_id, timeout_s=5, settings=JobsSettings())
