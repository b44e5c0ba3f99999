"""Reading the runs of a report with their values and flags, in a handful of statements."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlalchemy.orm import Session

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState
from offdiag.domain.values import MetricValue
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.verdict import Severity
from offdiag.reports.scope import CLASS_METRICS
from offdiag.reports.snapshot import (
    ALL_CLASSES_UP_TO,
    WORST_KEPT,
    ClassFigures,
    FlagFigures,
    RunFigures,
)
from offdiag.store.evaluations import aggregates_of, recorded_value, select_values
from offdiag.store.flag_conditions import SEVERITY_RANK
from offdiag.store.flags import record
from offdiag.store.models import EvaluationRow, FlagRow, MetricValueRow, RunRow, TruthVersionRow
from offdiag.store.models.evaluations import AGGREGATE
from offdiag.store.run_filter import RunFilter, conditions
from offdiag.store.run_rows import lowest_first

_SUPPORT = "support"


@dataclass(frozen=True, slots=True)
class ScopedRun:
    """A complete run in scope; `root_id` is the lineage of its labels, if it has any.

    `only_truth_id` is the version that an uploaded matrix stays with, None for predictions.
    """

    id: str
    name: str
    state: RunState
    root_id: int | None
    only_truth_id: int | None


def scoped_runs(session: Session, *, dataset_id: int, terms: RunFilter) -> list[ScopedRun]:
    """Complete runs of a dataset that match all terms, newest first."""
    rows = session.execute(
        select(
            RunRow.id,
            RunRow.name,
            RunRow.state,
            TruthVersionRow.root_id,
            case(
                (RunRow.source_orientation != SourceOrientation.PREDICTIONS, TruthVersionRow.id)
            ).label("only_truth_id"),
        )
        .outerjoin(TruthVersionRow, TruthVersionRow.id == RunRow.truth_version_id)
        .where(
            RunRow.dataset_id == dataset_id,
            RunRow.state != RunState.OPEN,
            *conditions(terms, session.get_bind().dialect.name),
        )
        .order_by(RunRow.created_at.desc(), RunRow.id.desc())
    )
    return [
        ScopedRun(row.id, row.name, RunState(row.state), row.root_id, row.only_truth_id)
        for row in rows
    ]


def run_figures(
    session: Session,
    run_ids: Collection[str],
    *,
    slices: Collection[str | None],
    metrics: Sequence[str],
    labels: LabelSet,
    watched: Collection[str],
) -> tuple[RunFigures, ...]:
    """Figures of the current evaluations of runs, newest run first, on all samples or slices.

    With many classes only the worst ones and those that are `watched` are read.
    """
    rows = session.execute(
        select(EvaluationRow, RunRow, TruthVersionRow.number)
        .join(RunRow, RunRow.id == EvaluationRow.run_id)
        .outerjoin(TruthVersionRow, TruthVersionRow.id == EvaluationRow.truth_version_id)
        .where(EvaluationRow.run_id.in_(run_ids), EvaluationRow.is_current, _one_of_slices(slices))
        .order_by(RunRow.created_at.desc(), RunRow.id.desc(), EvaluationRow.slice)
    ).all()
    evaluations = [evaluation.id for evaluation, _, _ in rows]
    aggregates = aggregates_of(session, evaluations, metrics)
    classes = _classes(session, evaluations, labels, watched)
    return tuple(
        RunFigures(
            id=run.id,
            name=run.name,
            model=run.model,
            logged_at=run.created_at,
            truth_number=number,
            suite_version=evaluation.suite_version,
            input_digest=evaluation.input_digest,
            n_cases=evaluation.n_cases,
            n_scored=evaluation.n_labelled,
            metrics=_in_order(metrics, aggregates.get(evaluation.id, {})),
            classes=classes.get(evaluation.id, ()),
            slice=evaluation.slice,
            has_weights=run.is_weighted,
        )
        for evaluation, run, number in rows
    )


def _one_of_slices(slices: Collection[str | None]) -> ColumnElement[bool]:
    """The condition for evaluations on the named slices; None stands for all samples."""
    named = EvaluationRow.slice.in_([text for text in slices if text is not None])
    return or_(named, EvaluationRow.slice.is_(None)) if None in slices else named


def _in_order(metrics: Sequence[str], values: Mapping[str, MetricValue]) -> dict[str, MetricValue]:
    """The values in display order; a missing one says why it is missing."""
    absent = MetricValue(None, reason="not_computed")
    return {key: values.get(key, absent) for key in metrics}


def _classes(
    session: Session, evaluations: Sequence[int], labels: LabelSet, watched: Collection[str]
) -> dict[int, tuple[ClassFigures, ...]]:
    """Values of classes by evaluation, in label order."""
    statement = select_values().where(
        MetricValueRow.evaluation_id.in_(evaluations),
        MetricValueRow.class_index > AGGREGATE,
        MetricValueRow.key.in_([*CLASS_METRICS, _SUPPORT]),
    )
    if len(labels) > ALL_CLASSES_UP_TO:
        worst = lowest_first("recall", evaluations, at_most=WORST_KEPT)
        codes = [labels.index[label] for label in watched if label in labels.index]
        is_worst = and_(
            worst.c.evaluation_id == MetricValueRow.evaluation_id,
            worst.c.class_index == MetricValueRow.class_index,
        )
        statement = statement.where(
            or_(
                MetricValueRow.class_index.in_(codes),
                select(worst.c.rank).where(is_worst).exists(),
            )
        )
    found: dict[tuple[int, int], dict[str, MetricValue]] = {}
    for row in session.execute(statement.order_by(MetricValueRow.class_index)):
        found.setdefault((row.evaluation_id, row.class_index), {})[row.key] = recorded_value(row)
    grouped: dict[int, list[ClassFigures]] = {}
    for (evaluation_id, class_index), values in found.items():
        support = values.pop(_SUPPORT).value or 0
        whole = round(support)
        figures = ClassFigures(
            labels.names[class_index], whole if whole == support else support, values
        )
        grouped.setdefault(evaluation_id, []).append(figures)
    return {evaluation_id: tuple(classes) for evaluation_id, classes in grouped.items()}


@dataclass(frozen=True, slots=True)
class FiringFlags:
    """The most severe flags, and how many there are in total."""

    flags: tuple[FlagFigures, ...]
    n_flags: int


def firing_flags(
    session: Session, run_ids: Collection[str], *, now: datetime, limit: int
) -> FiringFlags:
    """Flags of runs that have not been closed and are more than a remark; two statements.

    Their states are those visible at `now`.
    """
    rows = session.execute(
        select(FlagRow, RunRow.name)
        .join(RunRow, RunRow.id == FlagRow.run_id)
        .where(*_raised_for(run_ids))
        .order_by(SEVERITY_RANK.desc(), FlagRow.id)
        .limit(limit)
    ).all()
    counted = session.scalar(
        select(func.count()).select_from(FlagRow).where(*_raised_for(run_ids))
    )
    return FiringFlags(tuple(_figures(row, name, now) for row, name in rows), counted or 0)


def _raised_for(run_ids: Collection[str]) -> tuple[ColumnElement[bool], ...]:
    return (
        FlagRow.run_id.in_(run_ids),
        FlagRow.state != FlagState.CLOSED,
        FlagRow.severity != Severity.INFO,
    )


def _figures(row: FlagRow, run_name: str, now: datetime) -> FlagFigures:
    flag = record(row)
    state = flag.status.state_at(now)
    return FlagFigures(
        run_id=flag.run_id,
        run_name=run_name,
        rule=flag.content.rule,
        class_label=flag.content.class_label,
        slice=flag.content.slice,
        severity=flag.status.severity,
        state=state,
        message=flag.content.message,
        badge="hides" if flag.content.hides else "may hide" if flag.content.may_hide else "",
        snoozed_until=flag.status.snoozed_until if state is FlagState.OPEN else None,
    )
