"""Runs on a dataset of two classes as points: the recall of either class."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session, aliased

from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import DatasetRow, EvaluationRow, LabelSetRow, MetricValueRow, RunRow


@dataclass(frozen=True, slots=True)
class RatedRun:
    """A run with the recalls of both classes in label order, each where it is defined."""

    id: str
    name: str
    recalls: tuple[float | None, float | None]


def rated_runs(session: Session, *, dataset_id: int, limit: int) -> list[RatedRun]:
    """The newest evaluated runs on a dataset of two classes, at most `limit`."""
    first, second = aliased(MetricValueRow), aliased(MetricValueRow)
    statement = (
        select(RunRow.id, RunRow.name, first.value, second.value)
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
    return [RatedRun(run_id, name, (one, other)) for run_id, name, one, other in rows]


def positive_class(session: Session, dataset_id: int) -> tuple[int, str]:
    """Code and name of the class that counts as positive: the declared one, else the second."""
    names, declared = session.execute(
        select(LabelSetRow.names, DatasetRow.positive_label)
        .join(DatasetRow, DatasetRow.label_set_id == LabelSetRow.id)
        .where(DatasetRow.id == dataset_id)
    ).one()
    code = 1 if declared is None else names.index(declared)
    return code, names[code]


def _is_recall(metric: type[MetricValueRow], class_index: int) -> ColumnElement[bool]:
    return and_(
        metric.evaluation_id == EvaluationRow.id,
        metric.key == "recall",
        metric.class_index == class_index,
    )
