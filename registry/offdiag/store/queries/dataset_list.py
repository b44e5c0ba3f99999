"""The datasets of a registry with what has been run on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Subquery, and_, case, func, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import RunState, Task
from offdiag.store.models import DatasetRow, LabelSetRow, ProjectRow, RunRow, TruthVersionRow


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """One dataset; `truth_number`, `n_samples` and `class_counts` are of its newest truth."""

    id: int
    project: str
    name: str
    task: Task
    n_classes: int
    labels_inferred: bool
    truth_number: int | None
    n_samples: int | None
    class_counts: tuple[int, ...] | None
    runs_by_state: Mapping[RunState, int]
    last_logged_at: datetime | None

    @property
    def n_runs(self) -> int:
        return sum(self.runs_by_state.values())


def dataset_list(session: Session) -> tuple[DatasetSummary, ...]:
    """All datasets by project and name, in one statement."""
    newest = _newest_truths()
    logged = _logged_runs()
    rows = session.execute(
        select(
            DatasetRow,
            ProjectRow.name,
            LabelSetRow.n_classes,
            TruthVersionRow.number,
            TruthVersionRow.n_samples,
            TruthVersionRow.class_counts,
            *(logged.c[state] for state in RunState),
            logged.c.last_logged_at,
        )
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .outerjoin(newest, newest.c.dataset_id == DatasetRow.id)
        .outerjoin(
            TruthVersionRow,
            and_(
                TruthVersionRow.dataset_id == DatasetRow.id,
                TruthVersionRow.number == newest.c.number,
            ),
        )
        .outerjoin(logged, logged.c.dataset_id == DatasetRow.id)
        .order_by(ProjectRow.name, DatasetRow.name)
    )
    return tuple(
        DatasetSummary(
            id=row.DatasetRow.id,
            project=row.name,
            name=row.DatasetRow.name,
            task=Task(row.DatasetRow.task),
            n_classes=row.n_classes,
            labels_inferred=row.DatasetRow.labels_inferred,
            truth_number=row.number,
            n_samples=row.n_samples,
            class_counts=_class_counts(row.class_counts),
            runs_by_state={state: getattr(row, state) or 0 for state in RunState},
            last_logged_at=row.last_logged_at,
        )
        for row in rows
    )


def _newest_truths() -> Subquery:
    """The highest truth version of each dataset."""
    return (
        select(TruthVersionRow.dataset_id, func.max(TruthVersionRow.number).label("number"))
        .group_by(TruthVersionRow.dataset_id)
        .subquery()
    )


def _logged_runs() -> Subquery:
    """Number of runs in each state and the newest one's time, by dataset."""
    counts = (
        func.sum(case((RunRow.state == state, 1), else_=0)).label(state) for state in RunState
    )
    return (
        select(RunRow.dataset_id, *counts, func.max(RunRow.created_at).label("last_logged_at"))
        .group_by(RunRow.dataset_id)
        .subquery()
    )


def _class_counts(stored: list[int] | None) -> tuple[int, ...] | None:
    """Absent while a dataset has no truth, which an outer join does not say in its type."""
    return None if stored is None else tuple(stored)
