"""Asking for work, in the transaction that stores what the work is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from offdiag.services.work.bell import LOCAL_BELL
from offdiag.store import work
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
    submit(session, task=EVALUATE, args={"run": run_id}, key=evaluation_key(run_id))


def submit_evaluations(session: Session, run_ids: Sequence[str]) -> int:
    """Ask for the evaluations of many runs at once; returns how many were not waiting yet."""
    asked = work.insert_many_pending(
        session,
        task=EVALUATE,
        entries=[(evaluation_key(run_id), {"run": run_id}) for run_id in run_ids],
    )
    if asked:
        LOCAL_BELL.ring(session)
    return asked


def submit_report(session: Session, issue_id: int) -> None:
    """Ask for the figures and files of an issue, unless that is already waiting."""
    submit(session, task=REPORT, args={"issue": issue_id}, key=report_key(issue_id))


def submit_delivery(session: Session, delivery_id: int) -> None:
    """Ask for a delivery, unless it is already waiting."""
    submit(session, task=DELIVER, args={"delivery": delivery_id}, key=delivery_key(delivery_id))


def submit(session: Session, *, task: str, args: Mapping[str, Any], key: str) -> None:
    """Insert a work row and ring; the caller commits both with the data, or neither."""
    if work.insert_pending(session, task=task, args=args, key=key) is not None:
        LOCAL_BELL.ring(session)
