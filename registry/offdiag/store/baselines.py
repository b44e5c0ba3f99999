"""Statements on baselines: the run that the others of a dataset are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from offdiag.store.models import BaselineRow, DatasetRow, RunRow


@dataclass(frozen=True, slots=True)
class BaselineRecord:
    """Which run is pinned, by whom and when."""

    dataset_id: int
    run_id: str
    run_name: str
    author: str | None
    pinned_at: datetime


def find_baseline(session: Session, dataset_id: int) -> BaselineRecord | None:
    """The baseline of a dataset, if one is pinned and the run has not been deleted."""
    found = session.execute(
        select(BaselineRow, RunRow.name)
        .join(RunRow, RunRow.id == BaselineRow.run_id)
        .where(BaselineRow.dataset_id == dataset_id, RunRow.deleted_at.is_(None))
    ).one_or_none()
    if found is None:
        return None
    row, name = found
    return BaselineRecord(row.dataset_id, row.run_id, name, row.author, row.pinned_at)


def pin_baseline(
    session: Session, *, dataset_id: int, run_id: str, author: str | None, now: datetime
) -> None:
    """Make a run the baseline of its dataset, in place of the one before."""
    # Whoever pins one does so after the other.
    session.execute(
        select(DatasetRow.id).where(DatasetRow.id == dataset_id).with_for_update(key_share=True)
    )
    unpin_baseline(session, dataset_id)
    session.add(BaselineRow(dataset_id=dataset_id, run_id=run_id, author=author, pinned_at=now))
    session.flush()  # Constraint errors belong to this statement.


def unpin_baseline(session: Session, dataset_id: int) -> None:
    """Let a dataset have no baseline."""
    session.execute(delete(BaselineRow).where(BaselineRow.dataset_id == dataset_id))
