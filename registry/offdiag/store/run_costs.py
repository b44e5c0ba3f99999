"""Reading runs for questions about their errors.

For costs: the matrices of runs, and cost matrices that fit their classes. For two classes: the
recall of either class, a point per run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, exists, func, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunState
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import matrix_of
from offdiag.store.datasets import stored_labels
from offdiag.store.evaluations import counts_for_its_run, has_results_of_run, stored_counts
from offdiag.store.models import (
    ConfusionMatrixRow,
    CostMatrixRow,
    DatasetRow,
    EvaluationRow,
    LabelSetRow,
    MetricValueRow,
    ProjectRow,
    RunRow,
    TruthSliceRow,
    TruthVersionRow,
)
from offdiag.store.runs import RunRecord, recorded


@dataclass(frozen=True)
class TestedOn:
    """A label version that runs were scored with."""

    id: int
    number: int
    root_id: int
    n_samples: int
    has_slices: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWithCosts(RunRecord):
    """A run with the matrix of its current evaluation.

    `truth` is None for an uploaded matrix that was compared with no labels.
    """

    project: str
    dataset: str
    positive_label: str | None
    default_costs_id: int | None
    truth: TestedOn | None
    matrix: ConfusionMatrix
    evaluation_id: int


@dataclass(frozen=True, slots=True)
class OtherRun:
    """A run of the same dataset that could be shown as well."""

    id: str
    name: str
    model: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class CostChoice:
    """A cost matrix for the same classes, in its newest version."""

    name: str
    version: int


def runs_with_costs(session: Session, run_ids: Sequence[str]) -> tuple[RunWithCosts, ...]:
    """Evaluated runs in the order of their ids; others are left out.

    Raises `Conflict` for a multi-label run, because its errors have no cost.
    """
    rows = session.execute(
        select(
            *(RunRow, ProjectRow.name, DatasetRow, TruthVersionRow),
            *(ConfusionMatrixRow, LabelSetRow),
            exists().where(TruthSliceRow.truth_version_id == TruthVersionRow.root_id),
        )
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(
            EvaluationRow,
            has_results_of_run(),
        )
        .join(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .join(LabelSetRow, LabelSetRow.id == ConfusionMatrixRow.label_set_id)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == EvaluationRow.truth_version_id)
        .where(RunRow.id.in_(run_ids), RunRow.deleted_at.is_(None))
    )
    found = {row[0].id: _run(row) for row in rows}
    return tuple(found[run_id] for run_id in run_ids if run_id in found)


def _run(found: Row[*tuple[Any, ...]]) -> RunWithCosts:
    run: RunRow
    dataset: DatasetRow
    truth: TruthVersionRow | None
    matrix: ConfusionMatrixRow
    label_set: LabelSetRow
    run, project, dataset, truth, matrix, label_set, has_slices = found
    labels = stored_labels(label_set, inferred=dataset.labels_inferred)
    return RunWithCosts(
        **recorded(run),
        project=project,
        dataset=dataset.name,
        positive_label=dataset.positive_label,
        default_costs_id=dataset.default_cost_matrix_id,
        truth=None
        if truth is None
        else TestedOn(truth.id, truth.number, truth.root_id, truth.n_samples, has_slices),
        matrix=matrix_of(stored_counts(run.id, matrix.cells, matrix.digest, labels)),
        evaluation_id=matrix.evaluation_id,
    )


def newest_runs(session: Session, dataset_id: int, *, limit: int) -> tuple[OtherRun, ...]:
    """Evaluated runs of a dataset, the newest first."""
    rows = session.execute(_others(*_evaluated_on(dataset_id)).limit(limit))
    return tuple(OtherRun(*row) for row in rows)


def newest_without_weights(
    session: Session, dataset_id: int, *, limit: int
) -> tuple[tuple[OtherRun, ...], int]:
    """The same without runs that have sample weights, and the number of those left out."""
    on_dataset = _evaluated_on(dataset_id)
    n_weighted = select(func.count(RunRow.id)).where(*on_dataset, and_(RunRow.is_weighted))
    others = _others(*on_dataset, RunRow.is_weighted.is_(False)).limit(limit)
    rows = session.execute(others.add_columns(n_weighted.scalar_subquery().label("n"))).all()
    return tuple(OtherRun(*row[:-1]) for row in rows), rows[0].n if rows else 0


def _evaluated_on(dataset_id: int) -> tuple[ColumnElement[bool], ...]:
    return (
        RunRow.dataset_id == dataset_id,
        RunRow.state == RunState.EVALUATED,
        RunRow.deleted_at.is_(None),
    )


def runs_derived_from(session: Session, run: RunWithCosts, *, limit: int) -> tuple[OtherRun, ...]:
    """Runs that were derived from the scores of a run, newest first."""
    derived = RunRow.dataset_id == run.dataset_id, RunRow.derived_from == run.id
    rows = session.execute(_others(*derived, RunRow.deleted_at.is_(None)).limit(limit))
    return tuple(OtherRun(*row) for row in rows)


def _others(*which: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    return (
        select(RunRow.id, RunRow.name, RunRow.model, RunRow.created_at)
        .where(*which)
        .order_by(RunRow.created_at.desc(), RunRow.id)
    )


def cost_choices(session: Session, *, project: str, labels: LabelSet) -> tuple[CostChoice, ...]:
    """Cost matrices of a project for these classes, by name."""
    rows = session.execute(
        select(CostMatrixRow.name, func.max(CostMatrixRow.version))
        .join(ProjectRow, ProjectRow.id == CostMatrixRow.project_id)
        .join(LabelSetRow, LabelSetRow.id == CostMatrixRow.label_set_id)
        .where(ProjectRow.name == project, LabelSetRow.digest == labels.digest)
        .group_by(CostMatrixRow.name)
        .order_by(CostMatrixRow.name)
    )
    return tuple(CostChoice(name, version) for name, version in rows)


@dataclass(frozen=True, slots=True)
class RatedRun:
    """A run with the recalls of both classes in label order, each if it is defined."""

    id: str
    name: str
    recalls: tuple[float | None, float | None]
    is_weighted: bool


def rated_runs(session: Session, *, dataset_id: int, limit: int) -> list[RatedRun]:
    """The newest evaluated runs on a dataset of two classes, at most `limit`."""
    first, second = aliased(MetricValueRow), aliased(MetricValueRow)
    statement = (
        select(RunRow.id, RunRow.name, first.value, second.value, RunRow.is_weighted)
        .join(EvaluationRow, EvaluationRow.run_id == RunRow.id)
        .join(first, _is_recall(first, 0))
        .join(second, _is_recall(second, 1))
        .where(
            RunRow.dataset_id == dataset_id,
            RunRow.deleted_at.is_(None),
            counts_for_its_run(),
        )
        .order_by(RunRow.created_at.desc(), RunRow.id.desc())
        .limit(limit)
    )
    rows = session.execute(statement)
    return [
        RatedRun(run_id, name, (one, other), is_weighted)
        for run_id, name, one, other, is_weighted in rows
    ]


def positive_class(session: Session, dataset_id: int) -> tuple[int, str]:
    """Code and name of the positive class: the declared one, else the second."""
    label_set, declared = session.execute(
        select(LabelSetRow, DatasetRow.positive_label)
        .join(DatasetRow, DatasetRow.label_set_id == LabelSetRow.id)
        .where(DatasetRow.id == dataset_id)
    ).one()
    names = stored_labels(label_set).names
    code = 1 if declared is None else names.index(declared)
    return code, names[code]


def _is_recall(metric: type[MetricValueRow], class_index: int) -> ColumnElement[bool]:
    return and_(
        metric.evaluation_id == EvaluationRow.id,
        metric.key == "recall",
        metric.class_index == class_index,
    )
