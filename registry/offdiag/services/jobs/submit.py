"""Asking for work, in the transaction that stores what the work is about."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.services.jobs.notifiers import current_notifier
from offdiag.store import jobs
from offdiag.store.jobs import (
    JobRequest,
    project_of_delivery,
    project_of_edition,
    works_of_runs,
)
from offdiag.store.session import Session

EVALUATE = "evaluate"
REPORT = "report"
DELIVER = "deliver"


def evaluation_key(run_id: str) -> str:
    """Key under which the evaluation of a run waits at most once."""
    return f"{EVALUATE}:{run_id}"


def report_key(issue_id: int) -> str:
    """Key under which the figures of an issue wait at most once."""
    return f"{REPORT}:{issue_id}"


def delivery_key(delivery_id: int) -> str:
    """Key under which a delivery waits at most once."""
    return f"{DELIVER}:{delivery_id}"


def submit_evaluation(session: Session, run_id: str) -> None:
    """Ask for the evaluation of a run, unless it is already waiting."""
    submit_evaluations(session, [run_id])


def submit_evaluations(session: Session, run_ids: Sequence[str]) -> int:
    """Ask for the evaluations of many runs at once; returns how many were not waiting yet."""
    works = works_of_runs(session, run_ids)
    asked = jobs.insert_many_pending(
        session,
        EVALUATE,
        [
            JobRequest(evaluation_key(run_id), {"run": run_id}, *works.get(run_id, (None, None)))
            for run_id in run_ids
        ],
    )
    if asked:
        current_notifier().notify(session, asked)
    return len(asked)


def submit_report(session: Session, issue_id: int) -> None:
    """Ask for the figures and files of an issue, unless that is already waiting."""
    project_id = project_of_edition(session, issue_id)
    _submit(session, REPORT, JobRequest(report_key(issue_id), {"issue": issue_id}, project_id, 0))


def submit_delivery(session: Session, delivery_id: int) -> None:
    """Ask for a delivery, unless it is already waiting."""
    project_id = project_of_delivery(session, delivery_id)
    key = delivery_key(delivery_id)
    _submit(session, DELIVER, JobRequest(key, {"delivery": delivery_id}, project_id, 0))


def _submit(session: Session, task: str, wanted: JobRequest) -> None:
    """Insert a work row and ring; the caller commits both with the data, or neither."""
    work_id = jobs.insert_pending(session, task, wanted)
    if work_id is not None:
        current_notifier().notify(session, [work_id])
