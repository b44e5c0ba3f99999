"""Asking for work, in the transaction that stores what the work is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from offdiag.services.work.bell import LOCAL_BELL
from offdiag.store import work
from offdiag.store.session import Session

EVALUATE = "evaluate"


def evaluation_key(run_id: str) -> str:
    """Key under which the evaluation of a run waits at most once."""
    return f"{EVALUATE}:{run_id}"


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


def submit(session: Session, *, task: str, args: Mapping[str, Any], key: str) -> None:
    """Insert a work row and ring; the caller commits both with the data, or neither."""
    if work.insert_pending(session, task=task, args=args, key=key) is not None:
        LOCAL_BELL.ring(session)
