"""Reading the flag inbox, most severe first, and the page of one flag.

The inbox is read page by page, with the number of flags in each state. A flag is read with what
was judged: the matrix of its run, and what it was judged by.

The index orders flags by state and severity, and by number within each such group. A page is
assembled from the first few of each group, so it costs the same in a small and in a large
registry; sorting all flags of ten thousand runs would take a hundred times as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Subquery,
    and_,
    false,
    func,
    literal,
    or_,
    select,
    true,
    union_all,
)
from sqlalchemy.orm import Session

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Task
from offdiag.flags.lifecycle import MOST_COUNTED, FlagState
from offdiag.metrics.counted import Counted
from offdiag.store.datasets import stored_labels
from offdiag.store.evaluations import has_results_of_run, stored_counts
from offdiag.store.flag_conditions import FlagFilter, conditions
from offdiag.store.flags import FlagRecord, record, revision
from offdiag.store.models import (
    ConfusionMatrixRow,
    DatasetRow,
    EvaluationRow,
    FlagRow,
    LabelSetRow,
    ProjectRow,
    RunRow,
)


@dataclass(frozen=True, slots=True)
class FlagPlace:
    """The position of a flag in the inbox: the rank of its severity, then its number.

    As a cursor, it begins a page right after it, or ends one right before it if `backwards`.
    """

    rank: int
    flag_id: int
    backwards: bool = False


@dataclass(frozen=True)
class FlagEntry:
    """A flag with its run and dataset by name; `revision` is the number of its last change."""

    flag: FlagRecord
    revision: int
    run_name: str
    model: str | None
    dataset: str
    project: str
    task: Task


@dataclass(frozen=True)
class FlagPage:
    """Flags in order.

    `counts` are those of all flags that match the filter except for their state, each at most
    `MOST_COUNTED`.
    """

    entries: tuple[FlagEntry, ...]
    counts: Mapping[FlagState, int]
    previous: FlagPlace | None
    following: FlagPlace | None


def flag_inbox(
    session: Session,
    *,
    wanted: FlagFilter,
    now: datetime,
    after: FlagPlace | None = None,
    limit: int,
) -> FlagPage:
    """A page of flags in two statements: most severe first, newest first within a severity."""
    backwards = after is not None and after.backwards
    places = _places(wanted, now, after, limit + 1)
    order = (places.c.rank, places.c.id)
    rows = session.execute(
        _entries(places.c.rank)
        .join(places, places.c.id == FlagRow.id)
        .order_by(*(order if backwards else (column.desc() for column in order)))
    ).all()
    has_more, rows = len(rows) > limit, rows[:limit]
    if backwards:
        rows = rows[::-1]
    first, last = (rows[0], rows[-1]) if rows else (None, None)
    return FlagPage(
        entries=tuple(_entry(row) for row in rows),
        counts=_counts(session, wanted, now),
        previous=_place(first, backwards=True) if (has_more if backwards else after) else None,
        following=_place(last) if backwards or has_more else None,
    )


def _entries(*more: Any) -> Select[Any]:
    names = (RunRow.name, RunRow.model, DatasetRow.name, ProjectRow.name, DatasetRow.task)
    return (
        select(FlagRow, func.coalesce(revision(), 0), *names, *more)
        .join(RunRow, RunRow.id == FlagRow.run_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
    )


def _entry(row: Sequence[Any]) -> FlagEntry:
    flag, last_change, run_name, model, dataset, project, task = row[:7]
    return FlagEntry(record(flag), last_change, run_name, model, dataset, project, Task(task))


def _place(row: Any, *, backwards: bool = False) -> FlagPlace | None:
    return None if row is None else FlagPlace(row.rank, row[0].id, backwards)


def _places(wanted: FlagFilter, now: datetime, after: FlagPlace | None, limit: int) -> Subquery:
    """Ranks and numbers of the first flags of each state and severity that may be on the page."""
    backwards = after is not None and after.backwards
    groups = []
    for severity in wanted.severities:
        for in_state in _stored_states(wanted.state, now):
            group = (
                select(literal(severity.rank).label("rank"), FlagRow.id)
                .join(RunRow, RunRow.id == FlagRow.run_id)
                .where(
                    in_state,
                    FlagRow.severity == severity,
                    _is_beyond(severity.rank, after),
                    *conditions(wanted),
                )
                .order_by(FlagRow.id if backwards else FlagRow.id.desc())
                .limit(limit)
                .subquery()
            )
            groups.append(select(group))
    both = union_all(*groups).subquery()
    order = (both.c.rank, both.c.id)
    return (
        select(both)
        .order_by(*(order if backwards else (column.desc() for column in order)))
        .limit(limit)
        .subquery()
    )


def _is_beyond(rank: int, after: FlagPlace | None) -> ColumnElement[bool]:
    """Whether flags of this severity lie beyond a place."""
    if after is None:
        return true()
    if rank != after.rank:
        return true() if (rank > after.rank) is after.backwards else false()
    number = FlagRow.id.expression
    return number > after.flag_id if after.backwards else number < after.flag_id


def _stored_states(state: FlagState | None, now: datetime) -> Iterator[ColumnElement[bool]]:
    """The visible state at one moment, as conditions that each name one stored state."""
    if state is None:
        yield from (FlagRow.state == each for each in FlagState)
    elif state is FlagState.SNOOZED:
        yield and_(FlagRow.state == FlagState.SNOOZED, FlagRow.snoozed_until > now)
    else:
        yield FlagRow.state == state
        if state is FlagState.OPEN:
            yield and_(FlagRow.state == FlagState.SNOOZED, FlagRow.snoozed_until <= now)


def _counts(session: Session, wanted: FlagFilter, now: datetime) -> dict[FlagState, int]:
    counted = [_counted(state, wanted, now).label(state) for state in FlagState]
    found = session.execute(select(*counted)).one()
    return {state: int(number) for state, number in zip(FlagState, found, strict=True)}


def _counted(state: FlagState | None, wanted: FlagFilter, now: datetime) -> ColumnElement[int]:
    some = (
        select(FlagRow.id)
        .join(RunRow, RunRow.id == FlagRow.run_id)
        .where(or_(*_stored_states(state, now)), *conditions(wanted))
        .limit(MOST_COUNTED)
    )
    if wanted.at_least is not None:
        some = some.where(FlagRow.severity.in_(wanted.severities))
    counted: ColumnElement[int] = (
        select(func.count()).select_from(some.subquery()).scalar_subquery()
    )
    return counted


@dataclass(frozen=True)
class JudgedResults:
    """The current results of a run, and what its flags were judged by.

    `cost_matrix_id` and `baseline_run_id` are None if the run was judged without them.
    """

    counted: Counted
    truth_version_id: int | None
    rules_digest: str | None
    cost_matrix_id: int | None
    baseline_run_id: str | None


@dataclass(frozen=True)
class FlaggedRun:
    """A flag with the results of its run, None if these no longer exist."""

    entry: FlagEntry
    source: SourceOrientation
    results: JudgedResults | None


def flagged_run(session: Session, flag_id: int) -> FlaggedRun | None:
    """One flag by number, in one statement; None if it does not exist or its run was deleted."""
    found = session.execute(
        _entries(RunRow.source_orientation, EvaluationRow, ConfusionMatrixRow, LabelSetRow)
        .outerjoin(EvaluationRow, has_results_of_run())
        .outerjoin(ConfusionMatrixRow, ConfusionMatrixRow.evaluation_id == EvaluationRow.id)
        .outerjoin(LabelSetRow, LabelSetRow.id == ConfusionMatrixRow.label_set_id)
        .where(FlagRow.id == flag_id, RunRow.deleted_at.is_(None))
    ).one_or_none()
    if found is None:
        return None
    *_, source, evaluation, matrix, labels = found
    return FlaggedRun(
        _entry(found), SourceOrientation(source), _results(evaluation, matrix, labels)
    )


def _results(
    evaluation: EvaluationRow | None, matrix: ConfusionMatrixRow | None, labels: LabelSetRow | None
) -> JudgedResults | None:
    if evaluation is None or matrix is None or labels is None:
        return None
    return JudgedResults(
        stored_counts(evaluation.run_id, matrix.cells, matrix.digest, stored_labels(labels)),
        evaluation.truth_version_id,
        evaluation.rules_digest,
        evaluation.cost_matrix_id,
        evaluation.baseline_run_id,
    )
