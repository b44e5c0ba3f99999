"""The runs of a dataset that are ranked with one another by one metric, highest first.

Ranked are evaluated runs on the newest ground truth of the dataset, by results that are up to
date with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, cast

from sqlalchemy import ColumnElement, Row, and_, case, func, select
from sqlalchemy.orm import Session

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Task
from offdiag.domain.values import MetricValue
from offdiag.store.evaluations import VALUE_COLUMNS, counts_for_its_run, recorded_value
from offdiag.store.models import DatasetRow, EvaluationRow, MetricValueRow, RunRow, TruthVersionRow
from offdiag.store.models.evaluations import AGGREGATE


@dataclass(frozen=True, slots=True)
class RankedRun:
    """A run with its value; `has_predictions` False where a matrix was uploaded instead."""

    id: str
    name: str
    model: str | None
    created_at: datetime
    evaluation_id: int
    has_predictions: bool
    value: MetricValue
    has_scores: bool = False


@dataclass(frozen=True, slots=True)
class RankedRuns:
    """The highest runs by a metric, best first, out of `total` that have a value.

    `truth_number` is that of the ground truth, None where the dataset has none. `n_outdated`
    runs wait for results on it.
    """

    key: str
    truth_number: int | None
    runs: tuple[RankedRun, ...]
    total: int
    n_outdated: int


def ranked_runs(
    session: Session, dataset_id: int, key: str, *, lower_is_better: bool, limit: int
) -> RankedRuns:
    """The runs of a dataset by an aggregate metric, in at most three statements."""
    newest = session.execute(
        select(TruthVersionRow.id, TruthVersionRow.root_id, TruthVersionRow.number)
        .where(TruthVersionRow.dataset_id == dataset_id)
        .order_by(TruthVersionRow.number.desc())
        .limit(1)
    ).one_or_none()
    if newest is None:
        return RankedRuns(key, None, (), 0, 0)
    here = _of_dataset(dataset_id)
    order = MetricValueRow.value.asc() if lower_is_better else MetricValueRow.value.desc()
    rows = session.execute(
        select(
            RunRow.id,
            RunRow.name,
            RunRow.model,
            RunRow.created_at,
            RunRow.source_orientation,
            RunRow.score_columns,
            *VALUE_COLUMNS,
            func.count().over().label("total"),
        )
        .select_from(RunRow)
        .join(EvaluationRow, and_(EvaluationRow.run_id == RunRow.id, counts_for_its_run()))
        .join(
            MetricValueRow,
            and_(
                MetricValueRow.evaluation_id == EvaluationRow.id,
                MetricValueRow.class_index == AGGREGATE,
                MetricValueRow.key == key,
            ),
        )
        .where(
            here, EvaluationRow.truth_version_id == newest.id, MetricValueRow.value.is_not(None)
        )
        .order_by(order, RunRow.created_at.desc(), RunRow.id)
        .limit(limit)
    ).all()
    n_outdated = session.scalar(
        select(func.count())
        .select_from(RunRow)
        .join(EvaluationRow, and_(EvaluationRow.run_id == RunRow.id, counts_for_its_run()))
        .join(TruthVersionRow, TruthVersionRow.id == EvaluationRow.truth_version_id)
        .where(here, TruthVersionRow.root_id == newest.root_id, TruthVersionRow.id != newest.id)
    )
    return RankedRuns(
        key,
        newest.number,
        tuple(map(_run, rows)),
        rows[0].total if rows else 0,
        n_outdated or 0,
    )


def ranked_runs_of_all(
    session: Session,
    default_keys: Mapping[Task, str],
    *,
    lower_is_better: Collection[str],
    limit: int,
) -> dict[int, RankedRuns]:
    """The highest runs of every dataset by its primary metric, by id, in one statement.

    `default_keys` has the key by task for datasets that name none. `n_outdated` is not counted.
    Datasets without a value are absent.
    """
    newest = (
        select(TruthVersionRow.dataset_id, func.max(TruthVersionRow.number).label("number"))
        .group_by(TruthVersionRow.dataset_id)
        .subquery()
    )
    key = func.coalesce(DatasetRow.primary_metric, case(default_keys, value=DatasetRow.task))
    from_best = case(
        (MetricValueRow.key.in_(lower_is_better), -MetricValueRow.value),
        else_=MetricValueRow.value,
    ).desc()
    placed = (
        select(
            RunRow.dataset_id,
            TruthVersionRow.number,
            RunRow.id,
            RunRow.name,
            RunRow.model,
            RunRow.created_at,
            RunRow.source_orientation,
            RunRow.score_columns,
            *VALUE_COLUMNS,
            func.count().over(partition_by=RunRow.dataset_id).label("total"),
            func.row_number()
            .over(
                partition_by=RunRow.dataset_id,
                order_by=(from_best, RunRow.created_at.desc(), RunRow.id),
            )
            .label("place"),
        )
        .select_from(RunRow)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(newest, newest.c.dataset_id == RunRow.dataset_id)
        .join(
            TruthVersionRow,
            and_(
                TruthVersionRow.dataset_id == RunRow.dataset_id,
                TruthVersionRow.number == newest.c.number,
            ),
        )
        .join(
            EvaluationRow,
            and_(
                EvaluationRow.run_id == RunRow.id,
                counts_for_its_run(),
                EvaluationRow.truth_version_id == TruthVersionRow.id,
            ),
        )
        .join(
            MetricValueRow,
            and_(
                MetricValueRow.evaluation_id == EvaluationRow.id,
                MetricValueRow.class_index == AGGREGATE,
                MetricValueRow.key == key,
            ),
        )
        .where(RunRow.deleted_at.is_(None), MetricValueRow.value.is_not(None))
        .subquery()
    )
    found = session.execute(
        select(placed).where(placed.c.place <= limit).order_by(placed.c.dataset_id, placed.c.place)
    )
    return {
        dataset_id: _of_rows(list(rows))
        for dataset_id, rows in groupby(found, key=lambda row: cast(int, row.dataset_id))
    }


def _of_rows(rows: Sequence[Row[*tuple[Any, ...]]]) -> RankedRuns:
    """The rows of one dataset, at least one."""
    first = rows[0]
    return RankedRuns(first.key, first.number, tuple(map(_run, rows)), first.total, 0)


def _run(row: Row[*tuple[Any, ...]]) -> RankedRun:
    return RankedRun(
        id=row.id,
        name=row.name,
        model=row.model,
        created_at=row.created_at,
        evaluation_id=row.evaluation_id,
        has_predictions=row.source_orientation == SourceOrientation.PREDICTIONS,
        value=recorded_value(row),
        has_scores=row.score_columns > 0,
    )


def _of_dataset(dataset_id: int) -> ColumnElement[bool]:
    return and_(RunRow.dataset_id == dataset_id, RunRow.deleted_at.is_(None))
