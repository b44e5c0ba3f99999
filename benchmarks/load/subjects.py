"""What pages of a seeded registry are about: runs, a dataset and a flag, chosen the same way
each time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from offdiag.store.database import Database, Session
from offdiag.store.models import DatasetRow, FlagRow, ProjectRow, RunRow

_PLACE = 10
"""Of the dataset among all: one with 1,000 runs of 600 cases in the large plan."""


@dataclass(frozen=True, slots=True)
class Subjects:
    """Two runs of one dataset, the newest flag, and the run in the middle of the list."""

    one: str
    other: str
    dataset: str
    project: str
    flag: int
    middle: str
    middle_at: datetime


def subjects_of(database: Database) -> Subjects:
    """They lie in every seeded registry, whatever its size."""
    with database.read() as session:
        dataset = _dataset(session)
        newest = select(RunRow.id).order_by(RunRow.created_at.desc())
        one, other = session.scalars(newest.where(RunRow.dataset_id == dataset.id).limit(2))
        n_runs = session.scalar(select(func.count()).select_from(RunRow)) or 0
        middle = session.execute(
            select(RunRow.id, RunRow.created_at)
            .order_by(RunRow.created_at.desc(), RunRow.id.desc())
            .offset(n_runs // 2)
            .limit(1)
        ).one()
        project = session.scalar(
            select(ProjectRow.name).where(ProjectRow.id == dataset.project_id)
        )
        return Subjects(
            one=one,
            other=other,
            dataset=dataset.name,
            project=project or "",
            flag=int(session.scalar(select(func.max(FlagRow.id))) or 0),
            middle=middle.id,
            middle_at=middle.created_at,
        )


def _dataset(session: Session) -> DatasetRow:
    # Those that were seeded, also after clients have logged to others.
    seeded = select(DatasetRow).where(DatasetRow.name.startswith("dataset "))
    datasets = session.scalars(seeded.order_by(DatasetRow.name)).all()
    return datasets[min(_PLACE, len(datasets) - 1)]
