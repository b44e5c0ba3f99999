"""Reading the impact of a label correction: runs as scored before it, and as scored with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Subquery, and_, case, func, or_, select
from sqlalchemy.orm import Session, aliased

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState
from offdiag.domain.values import MetricValue
from offdiag.store.evaluations import VALUE_COLUMNS, recorded_value
from offdiag.store.models import EvaluationRow, MetricValueRow, RunRow, TruthVersionRow
from offdiag.store.models.base import record_as
from offdiag.store.models.evaluations import AGGREGATE


@dataclass(frozen=True, slots=True)
class TruthScores:
    """Metrics of a run on all its samples, as scored with one label version.

    Those of an `is_weighted` run are based on sums of weights.
    """

    truth_number: int
    suite_version: int
    input_digest: str
    n_cases: int
    n_labelled: int
    is_weighted: bool
    metrics: Mapping[str, MetricValue]


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A finished run. `before` and `after` are None if it has not been scored on that side."""

    id: str
    name: str
    model: str | None
    state: RunState
    created_at: datetime
    before: TruthScores | None
    after: TruthScores | None


def runs_around(
    session: Session,
    *,
    root_id: int,
    before: int,
    after: int,
    metrics: Sequence[str],
    limit: int,
) -> tuple[ScoredRun, ...]:
    """The newest runs of a lineage as scored up to version `before` and from `after` on.

    Each side is the nearest version a run was scored with: if corrections follow each other
    quickly, some versions in between may have no scored runs. One statement.
    """
    runs = _runs(root_id, limit)
    scores = _nearest(root_id, before, after)
    rows = session.execute(
        select(runs, scores, *VALUE_COLUMNS)
        .outerjoin(scores, and_(scores.c.run_id == runs.c.id, scores.c.place == 1))
        .outerjoin(
            MetricValueRow,
            and_(
                MetricValueRow.evaluation_id == scores.c.scores_id,
                MetricValueRow.class_index == AGGREGATE,
                MetricValueRow.key.in_(metrics),
            ),
        )
        .order_by(runs.c.created_at.desc(), runs.c.id.desc())
    ).all()
    values: dict[int, dict[str, MetricValue]] = {}
    for row in rows:
        if row.key is not None:
            values.setdefault(row.scores_id, {})[row.key] = recorded_value(row)
    sides = {
        (row.id, row.truth_number >= after): record_as(
            TruthScores, row, metrics=values.get(row.scores_id, {})
        )
        for row in rows
        if row.scores_id is not None
    }
    return tuple(
        record_as(
            ScoredRun,
            row,
            state=RunState(row.state),
            before=sides.get((row.id, False)),
            after=sides.get((row.id, True)),
        )
        for row in {row.id: row for row in rows}.values()
    )


def _runs(root_id: int, limit: int) -> Subquery:
    logged_on = aliased(TruthVersionRow)
    return (
        select(
            RunRow.id,
            RunRow.name,
            RunRow.model,
            RunRow.state,
            RunRow.created_at,
            RunRow.is_weighted,
        )
        .join(logged_on, logged_on.id == RunRow.truth_version_id)
        .where(
            logged_on.root_id == root_id,
            RunRow.source_orientation == SourceOrientation.PREDICTIONS,
            RunRow.deleted_at.is_(None),
        )
        .order_by(RunRow.created_at.desc(), RunRow.id.desc())
        .limit(limit)
        .subquery()
    )


def _nearest(root_id: int, before: int, after: int) -> Subquery:
    """Evaluations of whole runs; place 1 is that of the nearest version on its side."""
    version = aliased(TruthVersionRow)
    is_after = version.number >= after
    distance = case((is_after, version.number - after), else_=before - version.number)
    place = func.row_number().over(
        partition_by=(EvaluationRow.run_id, is_after),
        order_by=(distance, EvaluationRow.id.desc()),
    )
    return (
        select(
            EvaluationRow.id.label("scores_id"),
            EvaluationRow.run_id,
            EvaluationRow.suite_version,
            EvaluationRow.input_digest,
            EvaluationRow.n_cases,
            EvaluationRow.n_labelled,
            version.number.label("truth_number"),
            place.label("place"),
        )
        .join(version, version.id == EvaluationRow.truth_version_id)
        .where(
            version.root_id == root_id,
            EvaluationRow.slice.is_(None),
            or_(version.number <= before, is_after),
        )
        .subquery()
    )
