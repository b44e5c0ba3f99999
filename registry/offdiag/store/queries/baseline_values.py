"""The metrics of the run that others are held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from offdiag.domain.values import MetricValue
from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import BaselineRow, EvaluationRow, MetricValueRow, RunRow
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.recorded_values import recorded_value, select_values


@dataclass(frozen=True, slots=True)
class BaselineValues:
    """A run with some of its aggregates; `is_pinned` where it is the dataset's own baseline."""

    run_id: str
    name: str
    metrics: Mapping[str, MetricValue]
    is_pinned: bool


def baseline_values(
    session: Session, *, run_id: str | None, dataset_id: int | None, keys: Sequence[str]
) -> BaselineValues | None:
    """The named run, else the one pinned for the dataset; None without an evaluated one.

    One statement.
    """
    if run_id is None and dataset_id is None:
        return None
    wanted = RunRow.id == run_id if run_id is not None else BaselineRow.dataset_id == dataset_id
    rows = session.execute(
        select_values()
        .add_columns(RunRow.id.label("run_id"), RunRow.name, BaselineRow.run_id.label("pinned"))
        .join(EvaluationRow, EvaluationRow.id == MetricValueRow.evaluation_id)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .outerjoin(BaselineRow, BaselineRow.run_id == RunRow.id)
        .where(
            wanted,
            RunRow.deleted_at.is_(None),
            counts_for_its_run(),
            MetricValueRow.class_index == AGGREGATE,
            MetricValueRow.key.in_(keys),
        )
    ).all()
    if not rows:
        return None
    first = rows[0]
    return BaselineValues(
        first.run_id,
        first.name,
        {row.key: recorded_value(row) for row in rows},
        is_pinned=first.pinned is not None,
    )
