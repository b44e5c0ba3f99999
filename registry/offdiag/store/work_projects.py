"""Which project a piece of work is for, so that projects take turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from offdiag.store.models import DeliveryRow, ReportIssueRow, RunRow

_AT_ONCE = 500


def projects_of_runs(session: Session, run_ids: Sequence[str]) -> Mapping[str, int]:
    """The id of the project of each run that there is."""
    found: dict[str, int] = {}
    for start in range(0, len(run_ids), _AT_ONCE):
        some = run_ids[start : start + _AT_ONCE]
        rows = session.execute(select(RunRow.id, RunRow.project_id).where(RunRow.id.in_(some)))
        found.update((row.id, row.project_id) for row in rows)
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
