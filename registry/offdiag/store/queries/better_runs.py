"""Runs that find more of a class than a given one, on the same version of the ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Integer, Select, String, bindparam, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.values import MetricValue
from offdiag.store.models import EvaluationRow, MetricValueRow, RunRow
from offdiag.store.queries.recorded_values import VALUE_COLUMNS, recorded_value
from offdiag.store.queries.same_truth import Measured, is_scored_like, n_scored_like


@dataclass(frozen=True, slots=True)
class BetterRun:
    """A run with its recall of the class, in [0, 1] with its interval, and its accuracy."""

    run_id: str
    name: str
    model: str | None
    source: SourceOrientation
    recall: MetricValue
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class BetterRuns:
    """The best runs that were found, out of `n_compared` others on the same ground truth."""

    found: tuple[BetterRun, ...]
    n_compared: int


def better_runs(session: Session, run_id: str, *, class_index: int, limit: int) -> BetterRuns:
    """The runs with the highest recall of a class, if higher than that of `run_id`.

    Only runs whose current evaluation is of the same ground truth; of equally good ones those
    evaluated last.
    """
    asked = {"run_id": run_id, "class_index": class_index, "limit": limit}
    rows = session.execute(_best_first(), asked).all()
    return BetterRuns(
        tuple(
            BetterRun(
                run_id=row.id,
                name=row.name,
                model=row.model,
                source=SourceOrientation(row.source_orientation),
                recall=recorded_value(row),
                accuracy=row.accuracy,
            )
            for row in rows
        ),
        n_compared=rows[0].n_scored - 1 if rows else 0,
    )


@cache
def _best_first() -> Select[*tuple[Any, ...]]:
    """To build it takes longer than to answer it."""
    run_id = bindparam("run_id", type_=String())
    wanted = Measured(run_id, "recall", bindparam("class_index", type_=Integer()))
    recall, other = aliased(MetricValueRow), aliased(EvaluationRow)
    best = (
        select(other.id, other.run_id)
        .join(recall, recall.evaluation_id == other.id)
        .where(
            wanted.is_measured_by(recall),
            recall.value > wanted.value,
            is_scored_like(run_id, other),
            other.run_id != run_id,
        )
        .order_by(recall.value.desc(), other.id.desc())
        .limit(bindparam("limit", type_=Integer()))
        .subquery()
    )
    accuracy = aliased(MetricValueRow)
    of_accuracy = Measured(run_id, "overall_accuracy").is_measured_by(accuracy)
    of_recall = wanted.is_measured_by(MetricValueRow)
    return (
        select(
            RunRow.id,
            RunRow.name,
            RunRow.model,
            RunRow.source_orientation,
            *VALUE_COLUMNS,
            accuracy.value.label("accuracy"),
            n_scored_like(run_id).label("n_scored"),
        )
        .join(best, best.c.run_id == RunRow.id)
        .join(MetricValueRow, (MetricValueRow.evaluation_id == best.c.id) & of_recall)
        .outerjoin(accuracy, (accuracy.evaluation_id == best.c.id) & of_accuracy)
        .order_by(MetricValueRow.value.desc(), best.c.id.desc())
    )
