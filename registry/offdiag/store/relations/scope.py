"""Which runs a query is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow.dataset as ds
from sqlalchemy import select
from sqlalchemy.orm import Session

from offdiag.store.models import DatasetRow, ProjectRow, RunRow
from offdiag.store.relations.wanted import Wanted


@dataclass(frozen=True, slots=True)
class RunScope:
    """Runs by id, by the name of their dataset and of their project; () stands for any."""

    runs: Sequence[str] = ()
    datasets: Sequence[str] = ()
    projects: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ScopedRun:
    """A run, and where it belongs."""

    id: str
    project: str
    dataset: str


def runs_in_scope(session: Session, scope: RunScope) -> list[ScopedRun]:
    """All runs that are not deleted, those of a dataset together, oldest first."""
    statement = (
        select(RunRow.id, ProjectRow.name, DatasetRow.name)
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .where(RunRow.deleted_at.is_(None))
        .order_by(RunRow.dataset_id, RunRow.created_at, RunRow.id)
    )
    for column, wanted in (
        (RunRow.id, scope.runs),
        (DatasetRow.name, scope.datasets),
        (ProjectRow.name, scope.projects),
    ):
        if wanted:
            statement = statement.where(column.in_(wanted))
    return [ScopedRun(*row) for row in session.execute(statement)]


def possible_runs(runs: Sequence[ScopedRun], wanted: Wanted) -> list[ScopedRun]:
    """The runs of which rows can be wanted, as far as their place tells."""
    if wanted.condition is None:
        return list(runs)
    known = {"run_id", "project", "dataset"} & set(wanted.schema.names)
    if not known:
        return list(runs)
    guarantees = [_place(run, known) for run in runs]
    return [runs[number] for number in wanted.possible(guarantees)]


def _place(run: ScopedRun, known: set[str]) -> ds.Expression:
    facts = {"run_id": run.id, "project": run.project, "dataset": run.dataset}
    conditions = [ds.field(name) == value for name, value in facts.items() if name in known]
    guarantee = conditions[0]
    for condition in conditions[1:]:
        guarantee &= condition
    return guarantee
