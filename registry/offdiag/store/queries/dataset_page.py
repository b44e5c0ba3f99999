"""The page of a dataset: its runs by state, its slices, and projects that share its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import and_, exists, func, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState
from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    ProjectRow,
    RunRow,
    TruthSliceRow,
    TruthVersionRow,
)


@dataclass(frozen=True, slots=True)
class DatasetRuns:
    """The runs of a dataset. `n_behind` have results that an older truth version gave."""

    by_state: Mapping[RunState, int]
    n_behind: int

    @property
    def total(self) -> int:
        return sum(self.by_state.values())


@dataclass(frozen=True, slots=True)
class SliceFacts:
    """A slice column of the samples of a lineage, whose first version has the number `root`."""

    root: int
    name: str
    levels: tuple[str, ...]


def dataset_runs(session: Session, dataset_id: int) -> DatasetRuns:
    """All runs of a dataset but the deleted ones, counted in one statement."""
    newer = aliased(TruthVersionRow)
    is_behind = and_(
        RunRow.source_orientation == SourceOrientation.PREDICTIONS,
        exists().where(newer.parent_id == EvaluationRow.truth_version_id),
    ).label("is_behind")
    counted = session.execute(
        select(RunRow.state, is_behind, func.count().label("n"))
        .outerjoin(
            EvaluationRow,
            and_(
                EvaluationRow.run_id == RunRow.id,
                counts_for_its_run(),
            ),
        )
        .where(RunRow.dataset_id == dataset_id, RunRow.deleted_at.is_(None))
        .group_by(RunRow.state, is_behind)
    )
    by_state = dict.fromkeys(RunState, 0)
    n_behind = 0
    for row in counted:
        by_state[RunState(row.state)] += row.n
        n_behind += row.n if row.is_behind else 0
    return DatasetRuns(by_state, n_behind)


def dataset_slices(session: Session, dataset_id: int) -> tuple[SliceFacts, ...]:
    """All slice columns of a dataset, those of its newest samples first."""
    rows = session.execute(
        select(TruthVersionRow.number, TruthSliceRow.name, TruthSliceRow.levels)
        .join(TruthVersionRow, TruthVersionRow.id == TruthSliceRow.truth_version_id)
        .where(TruthVersionRow.dataset_id == dataset_id)
        .order_by(TruthVersionRow.number.desc(), TruthSliceRow.name)
    )
    return tuple(SliceFacts(row.number, row.name, tuple(row.levels)) for row in rows)


def projects_with_dataset(session: Session, name: str) -> tuple[str, ...]:
    """Projects that have a dataset of this name."""
    return tuple(
        session.scalars(
            select(ProjectRow.name)
            .join(DatasetRow, DatasetRow.project_id == ProjectRow.id)
            .where(DatasetRow.name == name)
            .order_by(ProjectRow.name)
        )
    )
