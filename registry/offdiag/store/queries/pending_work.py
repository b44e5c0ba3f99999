"""What is known of evaluations that have not been made yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from offdiag.store.models import WorkRow

WorkState = Literal["todo", "doing", "dead"]
_URGENCY: dict[WorkState, int] = {"dead": 0, "todo": 1, "doing": 2}


@dataclass(frozen=True, slots=True)
class EvaluationWork:
    """The work row that stands for a run's evaluation."""

    id: int
    state: WorkState
    asked_at: datetime
    attempts: int
    error: str | None


def evaluation_work(session: Session, run_ids: Sequence[str]) -> dict[str, EvaluationWork]:
    """The work of each run that has any; what is being done hides what waits behind it."""
    if not run_ids:
        return {}
    key_of = {f"evaluate:{run_id}": run_id for run_id in run_ids}
    rows = session.execute(
        select(
            WorkRow.id,
            WorkRow.key,
            WorkRow.state,
            WorkRow.created_at,
            WorkRow.attempts,
            WorkRow.error,
        ).where(WorkRow.key.in_(key_of))
    )
    found = [
        (
            key_of[row.key],
            EvaluationWork(
                id=row.id,
                state=row.state,
                asked_at=datetime.fromtimestamp(row.created_at, UTC),
                attempts=row.attempts,
                error=row.error,
            ),
        )
        for row in rows
    ]
    return dict(sorted(found, key=lambda entry: _URGENCY[entry[1].state]))
