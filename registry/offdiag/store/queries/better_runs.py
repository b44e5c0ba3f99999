"""Runs that find more of a class than a given one, on the same version of the ground truth."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.values import MetricValue
from offdiag.store.models import EvaluationRow, MetricValueRow, RunRow
from offdiag.store.models.evaluations import AGGREGATE


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

    Only runs whose current evaluation is of the same ground truth; of equally good ones the
    newest first.
    """
    this, other = aliased(EvaluationRow), aliased(EvaluationRow)
    recall_of_this, recall, accuracy = (aliased(MetricValueRow) for _ in range(3))
    rows = session.execute(
        select(RunRow, recall, accuracy.value, _n_others(this).label("n_others"))
        .join(other, other.run_id == RunRow.id)
        .join(this, this.truth_version_id == other.truth_version_id)
        .join(recall_of_this, _value_of(recall_of_this, this, "recall", class_index))
        .join(recall, _value_of(recall, other, "recall", class_index))
        .outerjoin(accuracy, _value_of(accuracy, other, "overall_accuracy", AGGREGATE))
        .where(
            RunRow.id != run_id,
            RunRow.deleted_at.is_(None),
            this.run_id == run_id,
            _counts(this),
            _counts(other),
            recall.value > recall_of_this.value,
        )
        .order_by(recall.value.desc(), RunRow.created_at.desc(), RunRow.id)
        .limit(limit)
    ).all()
    return BetterRuns(
        tuple(
            BetterRun(
                run_id=run.id,
                name=run.name,
                model=run.model,
                source=SourceOrientation(run.source_orientation),
                recall=MetricValue(
                    found.value,
                    found.reason,
                    found.tends_to,
                    found.ci_low,
                    found.ci_high,
                    found.ci_method,
                ),
                accuracy=right,
            )
            for run, found, right, _ in rows
        ),
        n_compared=rows[0].n_others if rows else 0,
    )


def _n_others(this: type[EvaluationRow]) -> ColumnElement[int]:
    """How many other runs were scored with the same ground truth."""
    one, run = aliased(EvaluationRow), aliased(RunRow)
    counted: ColumnElement[int] = (
        select(func.count())
        .select_from(one)
        .join(run, run.id == one.run_id)
        .where(
            one.truth_version_id == this.truth_version_id,
            one.run_id != this.run_id,
            _counts(one),
            run.deleted_at.is_(None),
        )
        .correlate(this)
        .scalar_subquery()
    )
    return counted


def _counts(evaluation: type[EvaluationRow]) -> ColumnElement[bool]:
    return and_(evaluation.is_current, evaluation.slice.is_(None))


def _value_of(
    value: type[MetricValueRow], evaluation: type[EvaluationRow], key: str, class_index: int
) -> ColumnElement[bool]:
    return and_(
        value.evaluation_id == evaluation.id,
        value.key == key,
        value.class_index == class_index,
    )
