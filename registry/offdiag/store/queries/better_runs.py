"""Runs that find more of a class than a given one, on the same version of the ground truth."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.values import MetricValue
from offdiag.store.models import EvaluationRow, MetricValueRow, RunRow
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
    wanted = Measured(run_id, "recall", class_index)
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
        .limit(limit)
        .subquery()
    )
    found, accuracy = aliased(MetricValueRow), aliased(MetricValueRow)
    of_accuracy = Measured(run_id, "overall_accuracy").is_measured_by(accuracy)
    rows = session.execute(
        select(RunRow, found, accuracy.value, n_scored_like(run_id).label("n_scored"))
        .join(best, best.c.run_id == RunRow.id)
        .join(found, (found.evaluation_id == best.c.id) & wanted.is_measured_by(found))
        .outerjoin(accuracy, (accuracy.evaluation_id == best.c.id) & of_accuracy)
        .order_by(found.value.desc(), best.c.id.desc())
    ).all()
    return BetterRuns(
        tuple(
            BetterRun(
                run_id=run.id,
                name=run.name,
                model=run.model,
                source=SourceOrientation(run.source_orientation),
                recall=MetricValue(
                    value.value,
                    value.reason,
                    value.tends_to,
                    value.ci_low,
                    value.ci_high,
                    value.ci_method,
                ),
                accuracy=right,
            )
            for run, value, right, _ in rows
        ),
        n_compared=rows[0].n_scored - 1 if rows else 0,
    )
