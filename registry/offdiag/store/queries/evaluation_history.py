"""All evaluations a run ever had, as far as they were kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from offdiag.domain.values import MetricValue
from offdiag.store.models import EvaluationRow, MetricValueRow, TruthVersionRow
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.recorded_values import recorded_value, select_values


@dataclass(frozen=True, slots=True)
class PastEvaluation:
    """One evaluation with its main numbers; `truth_number` is None for an uploaded matrix
    that was compared with no truth."""

    id: int
    slice: str | None
    truth_number: int | None
    suite_version: int
    engine_version: str
    n_cases: int
    n_labelled: int
    is_current: bool
    computed_at: datetime
    metrics: Mapping[str, MetricValue]


def evaluation_history(
    session: Session, run_id: str, *, keys: Collection[str]
) -> tuple[PastEvaluation, ...]:
    """The evaluations of a run, oldest first, each with the aggregates `keys`; two statements."""
    rows = session.execute(
        select(EvaluationRow, TruthVersionRow.number)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == EvaluationRow.truth_version_id)
        .where(EvaluationRow.run_id == run_id)
        .order_by(EvaluationRow.id)
    ).all()
    values = _values(session, [row.id for row, _ in rows], keys)
    return tuple(
        PastEvaluation(
            id=row.id,
            slice=row.slice,
            truth_number=number,
            suite_version=row.suite_version,
            engine_version=row.engine_version,
            n_cases=row.n_cases,
            n_labelled=row.n_labelled,
            is_current=row.is_current,
            computed_at=row.computed_at,
            metrics=values.get(row.id, {}),
        )
        for row, number in rows
    )


def _values(
    session: Session, evaluation_ids: Collection[int], keys: Collection[str]
) -> dict[int, dict[str, MetricValue]]:
    found: dict[int, dict[str, MetricValue]] = {}
    for row in session.execute(
        select_values().where(
            MetricValueRow.evaluation_id.in_(evaluation_ids),
            MetricValueRow.class_index == AGGREGATE,
            MetricValueRow.key.in_(keys),
        )
    ):
        found.setdefault(row.evaluation_id, {})[row.key] = recorded_value(row)
    return found
