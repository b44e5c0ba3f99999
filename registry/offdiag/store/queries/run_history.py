"""All evaluations of a run, and whether the current one still says what is true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.values import MetricValue
from offdiag.store.models import EvaluationRow, MetricValueRow, TruthVersionRow
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.pending_work import EvaluationWork, evaluation_work
from offdiag.store.queries.recorded_values import VALUE_COLUMNS, recorded_value
from offdiag.store.staleness import StaleReason, stale_runs


@dataclass(frozen=True, slots=True)
class PastEvaluation:
    """An evaluation of a whole run; `truth_number` is absent for an uploaded matrix."""

    id: int
    is_current: bool
    truth_number: int | None
    suite_version: int
    engine_version: str
    input_digest: str
    n_cases: int
    n_labelled: int
    computed_at: datetime
    duration_s: float
    metrics: Mapping[str, MetricValue]


@dataclass(frozen=True, slots=True)
class OutdatedResults:
    """Why the shown results are out of date, and the work that stands for newer ones.

    There are no `reasons` where all that is known is that scoring again failed.
    """

    reasons: tuple[StaleReason, ...]
    newest_suite_version: int
    work: EvaluationWork | None


def run_history(
    session: Session, run_id: str, *, metrics: Sequence[str], limit: int
) -> tuple[PastEvaluation, ...]:
    """Evaluations of all cases of a run, newest first, in one statement."""
    newest = (
        select(EvaluationRow)
        .where(EvaluationRow.run_id == run_id, EvaluationRow.slice.is_(None))
        .order_by(EvaluationRow.id.desc())
        .limit(limit)
        .subquery()
    )
    evaluation = aliased(EvaluationRow, newest)
    rows = session.execute(
        select(evaluation, TruthVersionRow.number, *VALUE_COLUMNS)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == evaluation.truth_version_id)
        .outerjoin(
            MetricValueRow,
            and_(
                MetricValueRow.evaluation_id == evaluation.id,
                MetricValueRow.class_index == AGGREGATE,
                MetricValueRow.key.in_(metrics),
            ),
        )
        .order_by(evaluation.id.desc())
    ).all()
    values: dict[int, dict[str, MetricValue]] = {}
    for row in rows:
        known = values.setdefault(row[0].id, {})
        if row.key is not None:
            known[row.key] = recorded_value(row)
    return tuple(
        PastEvaluation(
            id=found.id,
            is_current=found.is_current,
            truth_number=number,
            suite_version=found.suite_version,
            engine_version=found.engine_version,
            input_digest=found.input_digest,
            n_cases=found.n_cases,
            n_labelled=found.n_labelled,
            computed_at=found.computed_at,
            duration_s=found.duration_s,
            metrics=values[found.id],
        )
        for found, number in {row[0].id: (row[0], row.number) for row in rows}.values()
    )


def outdated_results(
    session: Session, run_id: str, *, suite_version: int, has_failed: bool
) -> OutdatedResults | None:
    """Why the current results of a run are stale, None where they are not or there are none.

    A run that `has_failed` to be scored again counts as stale, whatever the reason was. One
    statement, and another one for results that are stale.
    """
    stale = stale_runs(session, suite_version=suite_version, run_ids=[run_id])
    reasons = stale[0].reasons if stale else ()
    if not has_failed and (not reasons or StaleReason.NOT_EVALUATED in reasons):
        return None
    work = evaluation_work(session, [run_id]).get(run_id)
    return OutdatedResults(reasons, suite_version, work)
