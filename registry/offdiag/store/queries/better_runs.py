"""Runs that find more of a class than a given one, on the same version of the ground truth."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session, aliased

from offdiag.store.models import EvaluationRow, MetricValueRow, RunRow
from offdiag.store.models.evaluations import AGGREGATE


@dataclass(frozen=True, slots=True)
class BetterRun:
    """A run with its recall of the class and its accuracy, both in [0, 1]."""

    run_id: str
    name: str
    model: str | None
    recall: float
    accuracy: float | None


def better_runs(session: Session, run_id: str, *, class_index: int, limit: int) -> list[BetterRun]:
    """The runs with the highest recall of a class, if higher than that of `run_id`.

    Only runs whose current evaluation is of the same ground truth; of equally good ones the
    newest first.
    """
    this = aliased(EvaluationRow)
    other = aliased(EvaluationRow)
    recall_of_this, recall, accuracy = (aliased(MetricValueRow) for _ in range(3))
    rows = session.execute(
        select(RunRow.id, RunRow.name, RunRow.model, recall.value, accuracy.value)
        .join(other, other.run_id == RunRow.id)
        .join(this, this.truth_version_id == other.truth_version_id)
        .join(recall_of_this, _value_of(recall_of_this, this, "recall", class_index))
        .join(recall, _value_of(recall, other, "recall", class_index))
        .outerjoin(accuracy, _value_of(accuracy, other, "overall_accuracy", AGGREGATE))
        .where(
            RunRow.id != run_id,
            RunRow.deleted_at.is_(None),
            this.run_id == run_id,
            this.is_current,
            this.slice.is_(None),
            other.is_current,
            other.slice.is_(None),
            recall.value > recall_of_this.value,
        )
        .order_by(recall.value.desc(), RunRow.created_at.desc(), RunRow.id)
        .limit(limit)
    )
    return [
        BetterRun(run_id, name, model, found, right)
        for run_id, name, model, found, right in rows
        if found is not None
    ]


def _value_of(
    value: type[MetricValueRow], evaluation: type[EvaluationRow], key: str, class_index: int
) -> ColumnElement[bool]:
    return and_(
        value.evaluation_id == evaluation.id,
        value.key == key,
        value.class_index == class_index,
    )
