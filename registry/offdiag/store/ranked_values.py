"""Values beside the one runs are ranked by: other metrics, the worst class, label versions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from offdiag.domain.values import MetricValue
from offdiag.store.evaluations import counts_for_its_run, recorded_value, select_values
from offdiag.store.models import EvaluationRow, MetricValueRow, TruthVersionRow
from offdiag.store.models.evaluations import AGGREGATE


@dataclass(frozen=True, slots=True)
class WorstClass:
    """The class on which a run is worst, by its code; the first of several."""

    code: int
    value: float


def values_of(
    session: Session, evaluation_ids: Collection[int], keys: Sequence[str]
) -> dict[int, dict[str, MetricValue]]:
    """Aggregate values by evaluation and key."""
    rows = session.execute(
        select_values().where(
            MetricValueRow.evaluation_id.in_(evaluation_ids),
            MetricValueRow.class_index == AGGREGATE,
            MetricValueRow.key.in_(keys),
        )
    )
    found: dict[int, dict[str, MetricValue]] = {}
    for row in rows:
        found.setdefault(row.evaluation_id, {})[row.key] = recorded_value(row)
    return found


def accuracies_of(session: Session, run_ids: Collection[str]) -> dict[str, float]:
    """Accuracy by run, as far as runs are evaluated, with whichever version of their labels."""
    rows = session.execute(
        select(EvaluationRow.run_id, MetricValueRow.value)
        .join(MetricValueRow, MetricValueRow.evaluation_id == EvaluationRow.id)
        .where(
            EvaluationRow.run_id.in_(run_ids),
            counts_for_its_run(),
            MetricValueRow.class_index == AGGREGATE,
            MetricValueRow.key == "overall_accuracy",
        )
    )
    return {run_id: value for run_id, value in rows if value is not None}


def worst_classes(
    session: Session, evaluation_ids: Collection[int], key: str
) -> dict[int, WorstClass]:
    """The class with the lowest value of a metric by evaluation, where any has a value."""
    place = func.row_number().over(
        partition_by=MetricValueRow.evaluation_id,
        order_by=(MetricValueRow.value, MetricValueRow.class_index),
    )
    placed = (
        select(
            MetricValueRow.evaluation_id,
            MetricValueRow.class_index,
            MetricValueRow.value,
            place.label("place"),
        )
        .where(
            MetricValueRow.evaluation_id.in_(evaluation_ids),
            MetricValueRow.class_index != AGGREGATE,
            MetricValueRow.key == key,
            MetricValueRow.value.is_not(None),
        )
        .subquery()
    )
    rows = session.execute(select(placed).where(placed.c.place == 1))
    return {row.evaluation_id: WorstClass(row.class_index, row.value) for row in rows}


def label_versions(session: Session, dataset_id: int) -> tuple[tuple[int, datetime], ...]:
    """Number and time of each label version of a dataset, oldest first."""
    rows = session.execute(
        select(TruthVersionRow.number, TruthVersionRow.created_at)
        .where(TruthVersionRow.dataset_id == dataset_id)
        .order_by(TruthVersionRow.number)
    )
    return tuple((row.number, row.created_at) for row in rows)
