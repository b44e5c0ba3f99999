"""Which project a piece of work is for and how large it is, so that nobody waits for long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import case, exists, select
from sqlalchemy.orm import Session

from offdiag.store.models import DeliveryRow, PredictionChunkRow, ReportIssueRow, RunRow

_AT_ONCE = 500


class RunAsWork(NamedTuple):
    """What the evaluation of a run asks of a worker.

    `size` is how many predicted classes and scores it reads; counts alone are read in no time.
    """

    project_id: int
    size: int


def works_of_runs(session: Session, run_ids: Sequence[str]) -> Mapping[str, RunAsWork]:
    """Project and size of the evaluation of each run that there is."""
    found: dict[str, RunAsWork] = {}
    has_chunks = exists(
        select(PredictionChunkRow.run_id).where(PredictionChunkRow.run_id == RunRow.id)
    )
    read = RunRow.n_predictions * (1 + RunRow.score_columns)
    size = case((has_chunks, read), else_=0)
    for start in range(0, len(run_ids), _AT_ONCE):
        some = run_ids[start : start + _AT_ONCE]
        rows = session.execute(
            select(RunRow.id, RunRow.project_id, size).where(RunRow.id.in_(some))
        )
        found.update((run_id, RunAsWork(*rest)) for run_id, *rest in rows)
    return found


def project_of_issue(session: Session, issue_id: int) -> int | None:
    """The id of the project of a report that was issued."""
    return session.scalar(select(ReportIssueRow.project_id).where(ReportIssueRow.id == issue_id))


def project_of_delivery(session: Session, delivery_id: int) -> int | None:
    """The id of the project of a report that is on its way."""
    return session.scalar(
        select(ReportIssueRow.project_id)
        .join(DeliveryRow, DeliveryRow.issue_id == ReportIssueRow.id)
        .where(DeliveryRow.id == delivery_id)
    )
