"""The datasets of a registry with what has been run on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, func, select
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
    """All datasets by project and name, in two statements."""
    newest = (
        select(TruthVersionRow.dataset_id, func.max(TruthVersionRow.number).label("number"))
        .group_by(TruthVersionRow.dataset_id)
        .subquery()
    )
    rows = session.execute(
        select(
            DatasetRow,
            ProjectRow.name,
            LabelSetRow.n_classes,
            TruthVersionRow.number,
            TruthVersionRow.n_samples,
            TruthVersionRow.class_counts,
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
        .order_by(ProjectRow.name, DatasetRow.name)
    ).all()
    runs = _runs_by_state(session)
    return tuple(
        DatasetSummary(
            id=dataset.id,
            project=project,
            name=dataset.name,
            task=Task(dataset.task),
            n_classes=n_classes,
            labels_inferred=dataset.labels_inferred,
            truth_number=number,
            n_samples=n_samples,
            class_counts=_class_counts(class_counts),
            runs_by_state={state: count for state, (count, _) in runs.get(dataset.id, {}).items()},
            last_logged_at=max(
                (logged for _, logged in runs.get(dataset.id, {}).values()), default=None
            ),
        )
        for dataset, project, n_classes, number, n_samples, class_counts in rows
    )


def _class_counts(stored: list[int] | None) -> tuple[int, ...] | None:
    """Absent while a dataset has no truth, which an outer join does not say in its type."""
    return None if stored is None else tuple(stored)


def _runs_by_state(session: Session) -> dict[int, dict[RunState, tuple[int, datetime]]]:
    """Number of runs and the newest one's time, by dataset and state."""
    rows = session.execute(
        select(
            RunRow.dataset_id, RunRow.state, func.count(), func.max(RunRow.created_at)
        ).group_by(RunRow.dataset_id, RunRow.state)
    )
    found: dict[int, dict[RunState, tuple[int, datetime]]] = {}
    for dataset_id, state, count, logged in rows:
        found.setdefault(dataset_id, {})[RunState(state)] = (count, logged)
    return found
