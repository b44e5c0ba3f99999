"""Runs with all that is known of each as a whole, for tables outside the dashboard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, and_, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import FoundRun, RunState
from offdiag.domain.values import MetricValue
from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.models import (
    DatasetRow,
    EvaluationRow,
    MetricValueRow,
    ProjectRow,
    RunRow,
    TruthVersionRow,
)
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.queries.flag_filter import may_hide_minority
from offdiag.store.queries.recorded_values import recorded_value, select_values

_AT_ONCE = 500
"""Runs named in one statement: databases limit the parameters they take."""


def run_records(session: Session, ids: Sequence[str]) -> list[FoundRun]:
    """The named runs in the order of their ids; two statements for each 500."""
    found: dict[str, FoundRun] = {}
    for some in _batches(ids):
        rows = session.execute(_facts(some)).all()
        metrics = _metrics(session, [row.evaluation_id for row in rows if row.evaluation_id])
        found |= {row.id: _record(row, metrics.get(row.evaluation_id, {})) for row in rows}
    return [found[run_id] for run_id in ids if run_id in found]


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _AT_ONCE):
        yield ids[start : start + _AT_ONCE]


def _facts(ids: Sequence[str]) -> Select[*tuple[Any, ...]]:
    is_current = and_(
        EvaluationRow.run_id == RunRow.id,
        counts_for_its_run(),
    )
    return (
        select(
            RunRow.id,
            RunRow.name,
            RunRow.model,
            ProjectRow.name.label("project"),
            DatasetRow.name.label("dataset"),
            TruthVersionRow.number.label("truth_version"),
            RunRow.state,
            RunRow.author,
            RunRow.git_sha,
            RunRow.created_at,
            RunRow.n_predictions,
            RunRow.params,
            RunRow.tags,
            EvaluationRow.id.label("evaluation_id"),
            EvaluationRow.hides_minority,
            may_hide_minority().label("may_hide_minority"),
        )
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .outerjoin(EvaluationRow, is_current)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == EvaluationRow.truth_version_id)
        .where(RunRow.id.in_(ids))
    )


def _metrics(
    session: Session, evaluations: Sequence[int]
) -> Mapping[int, Mapping[str, MetricValue]]:
    """All aggregates by evaluation and key."""
    found: dict[int, dict[str, MetricValue]] = {}
    wanted = select_values().where(
        MetricValueRow.evaluation_id.in_(evaluations), MetricValueRow.class_index == AGGREGATE
    )
    for row in session.execute(wanted.order_by(MetricValueRow.key)):
        found.setdefault(row.evaluation_id, {})[row.key] = recorded_value(row)
    return found


def _record(row: Row[*tuple[Any, ...]], metrics: Mapping[str, MetricValue]) -> FoundRun:
    return FoundRun(
        id=row.id,
        name=row.name,
        model=row.model,
        project=row.project,
        dataset=row.dataset,
        truth_version=row.truth_version,
        state=RunState(row.state),
        author=row.author,
        git_sha=row.git_sha,
        created_at=row.created_at,
        n_predictions=row.n_predictions,
        hides_minority=row.hides_minority,
        may_hide_minority=row.may_hide_minority,
        params=row.params,
        tags=row.tags,
        metrics=metrics,
    )
