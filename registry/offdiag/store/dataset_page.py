"""Reading datasets for their list and their page.

For each: its runs by state, its models and slices, and other projects that use its name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Row, Select, and_, case, exists, func, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState, Task
from offdiag.store.evaluations import has_results_of_run
from offdiag.store.models import (
    CostMatrixRow,
    DatasetRow,
    EvaluationRow,
    LabelSetRow,
    ProjectRow,
    RunRow,
    TruthSliceRow,
    TruthVersionRow,
)
from offdiag.store.models.base import record_as
from offdiag.store.run_conditions import method_of
from offdiag.store.slices import slice_values
from offdiag.store.truths import newest_numbers

UNEVALUATED = (RunState.OPEN, RunState.FINISHED, RunState.FAILED)


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """One dataset; `truth_number` to `class_counts` are those of its newest label version.

    `costs` names what its runs are judged by, as `visits@2`, in `currency` if one is known.
    """

    id: int
    project: str
    name: str
    task: Task
    n_classes: int
    labels_inferred: bool
    truth_number: int | None
    n_samples: int | None
    n_labelled: int | None
    class_counts: tuple[int, ...] | None
    costs: str | None = None
    currency: str | None = None
    primary_metric: str | None = None


@dataclass(frozen=True, slots=True)
class LoggedRuns:
    """Run counts of one dataset."""

    by_state: Mapping[RunState, int]
    last_logged_at: datetime | None

    @property
    def total(self) -> int:
        return sum(self.by_state.values())


def dataset_list(session: Session) -> tuple[DatasetFacts, ...]:
    """All datasets by project and name, in one statement."""
    return tuple(_facts(row) for row in session.execute(_datasets()))


def dataset_overview(session: Session) -> tuple[tuple[DatasetFacts, LoggedRuns], ...]:
    """All datasets with counts of their runs, in one statement."""
    logged = (
        select(
            RunRow.dataset_id,
            func.count().label("n_runs"),
            func.max(RunRow.created_at).label("last_logged_at"),
        )
        .where(RunRow.deleted_at.is_(None))
        .group_by(RunRow.dataset_id)
        .subquery()
    )
    # Nearly all runs are evaluated. Counting only the others lets an index find them.
    others = (
        select(
            RunRow.dataset_id,
            *(
                func.sum(case((RunRow.state == state, 1), else_=0)).label(state)
                for state in UNEVALUATED
            ),
        )
        .where(RunRow.state.in_(UNEVALUATED), RunRow.deleted_at.is_(None))
        .group_by(RunRow.dataset_id)
        .subquery()
    )
    rows = session.execute(
        _datasets()
        .add_columns(
            logged.c.n_runs,
            logged.c.last_logged_at,
            *(others.c[state] for state in UNEVALUATED),
        )
        .outerjoin(logged, logged.c.dataset_id == DatasetRow.id)
        .outerjoin(others, others.c.dataset_id == DatasetRow.id)
    )
    return tuple((_facts(row), _logged_runs(row)) for row in rows)


@cache
def _datasets() -> Select[*tuple[Any, ...]]:
    newest = newest_numbers()
    is_newest = and_(
        TruthVersionRow.dataset_id == DatasetRow.id, TruthVersionRow.number == newest.c.number
    )
    return (
        select(
            DatasetRow.id,
            ProjectRow.name.label("project"),
            DatasetRow.name,
            DatasetRow.task,
            DatasetRow.labels_inferred,
            LabelSetRow.n_classes,
            TruthVersionRow.number,
            TruthVersionRow.n_samples,
            TruthVersionRow.n_labelled,
            TruthVersionRow.class_counts,
            CostMatrixRow.name.label("costs_name"),
            CostMatrixRow.version.label("costs_version"),
            CostMatrixRow.currency,
            DatasetRow.primary_metric,
        )
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .outerjoin(newest, newest.c.dataset_id == DatasetRow.id)
        .outerjoin(TruthVersionRow, is_newest)
        .outerjoin(CostMatrixRow, CostMatrixRow.id == DatasetRow.default_cost_matrix_id)
        .order_by(ProjectRow.name, DatasetRow.name)
    )


def _facts(row: Row[*tuple[Any, ...]]) -> DatasetFacts:
    counts: list[int] | None = row.class_counts
    return record_as(
        DatasetFacts,
        row,
        task=Task(row.task),
        truth_number=row.number,
        class_counts=None if counts is None else tuple(counts),
        costs=None if row.costs_name is None else f"{row.costs_name}@{row.costs_version}",
    )


def _logged_runs(row: Row[*tuple[Any, ...]]) -> LoggedRuns:
    others = {state: getattr(row, state) or 0 for state in UNEVALUATED}
    n_evaluated = (row.n_runs or 0) - sum(others.values())
    return LoggedRuns(others | {RunState.EVALUATED: n_evaluated}, row.last_logged_at)


@dataclass(frozen=True, slots=True)
class DatasetRuns:
    """The runs of a dataset. `n_behind` have results from an older label version."""

    by_state: Mapping[RunState, int]
    n_behind: int

    @property
    def total(self) -> int:
        return sum(self.by_state.values())


@dataclass(frozen=True, slots=True)
class DatasetSize:
    """The size of a dataset; labels are counted in its newest label version.

    `truth_number` is None while it has no labels; then only runs are counted. `n_failed` runs are
    those whose evaluation failed for good. `has_methods` says whether any of the newest
    `MOST_WITH_METHODS` runs names its method.
    """

    truth_number: int | None
    n_samples: int
    n_labelled: int
    class_counts: tuple[int, ...]
    n_runs: int
    n_failed: int
    has_methods: bool


MOST_WITH_METHODS = 1_000
"""Reading the tags of many more runs would take longer than the rest of a page."""


def dataset_size(session: Session, dataset_id: int) -> DatasetSize:
    """The size of a dataset, in one statement."""
    runs = select(func.count()).where(RunRow.dataset_id == dataset_id, RunRow.deleted_at.is_(None))
    failed = runs.where(RunRow.state == RunState.FAILED)
    newest = aliased(
        RunRow,
        select(RunRow)
        .where(RunRow.dataset_id == dataset_id, RunRow.deleted_at.is_(None))
        .order_by(RunRow.created_at.desc(), RunRow.id.desc())
        .limit(MOST_WITH_METHODS)
        .subquery(),
    )
    method = method_of(newest.tags, session.get_bind().dialect.name)
    row = session.execute(
        select(
            runs.scalar_subquery().label("n_runs"),
            failed.scalar_subquery().label("n_failed"),
            exists(select(newest.id).where(method.is_not(None))).label("has_methods"),
            TruthVersionRow.number,
            TruthVersionRow.n_samples,
            TruthVersionRow.n_labelled,
            TruthVersionRow.class_counts,
        )
        .select_from(DatasetRow)
        .outerjoin(TruthVersionRow, TruthVersionRow.dataset_id == DatasetRow.id)
        .where(DatasetRow.id == dataset_id)
        .order_by(TruthVersionRow.number.desc())
        .limit(1)
    ).one()
    counts = tuple(row.class_counts or ())
    return DatasetSize(
        row.number,
        row.n_samples or 0,
        row.n_labelled or 0,
        counts,
        n_runs=row.n_runs,
        n_failed=row.n_failed,
        has_methods=row.has_methods,
    )


@dataclass(frozen=True, slots=True)
class SliceFacts:
    """A slice column of the samples of a lineage whose first version has the number `root`.

    `n_suppressed` values are hidden and therefore not among the `levels`.
    """

    root: int
    name: str
    levels: tuple[str, ...]
    n_suppressed: int = 0


def dataset_runs(session: Session, dataset_id: int) -> DatasetRuns:
    """Run counts of a dataset without deleted runs, in one statement."""
    newer = aliased(TruthVersionRow)
    is_behind = and_(
        RunRow.source_orientation == SourceOrientation.PREDICTIONS,
        exists().where(newer.parent_id == EvaluationRow.truth_version_id),
    ).label("is_behind")
    counted = session.execute(
        select(RunRow.state, is_behind, func.count().label("n"))
        .outerjoin(
            EvaluationRow,
            has_results_of_run(),
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
        select(
            TruthVersionRow.number, TruthSliceRow.name, TruthSliceRow.levels, TruthSliceRow.codec
        )
        .join(TruthVersionRow, TruthVersionRow.id == TruthSliceRow.truth_version_id)
        .where(TruthVersionRow.dataset_id == dataset_id)
        .order_by(TruthVersionRow.number.desc(), TruthSliceRow.name)
    )
    return tuple(
        SliceFacts(row.number, row.name, slice_values(row.levels, row.codec)) for row in rows
    )


def models_by_first_run(
    session: Session, dataset_ids: Collection[int]
) -> dict[int, tuple[str | None, ...]]:
    """Models by dataset, in the order of their first run: pages colour models by it.

    None stands for runs that name no model. New models are added at the end; otherwise the order
    never changes, unless the first runs of a model are deleted.
    """
    if not dataset_ids:
        return {}
    first = func.min(RunRow.created_at)
    rows = session.execute(
        select(RunRow.dataset_id, RunRow.model)
        .where(RunRow.dataset_id.in_(dataset_ids), RunRow.deleted_at.is_(None))
        .group_by(RunRow.dataset_id, RunRow.model)
        .order_by(RunRow.dataset_id, first, func.min(RunRow.id))
    )
    found: dict[int, list[str | None]] = {}
    for dataset_id, model in rows:
        found.setdefault(dataset_id, []).append(model)
    return {dataset_id: tuple(models) for dataset_id, models in found.items()}
