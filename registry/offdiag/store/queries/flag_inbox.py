"""The inbox of flags: the gravest first, page by page, with how many there are in each state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select, tuple_
from sqlalchemy.orm import Session

from offdiag.flags.lifecycle import FlagState
from offdiag.flags.severity import SEVERITIES, Severity
from offdiag.store.flags import FlagRecord, record
from offdiag.store.models import DatasetRow, FlagRow, ProjectRow, RunRow

_RANK = case({severity.value: severity.rank for severity in SEVERITIES}, value=FlagRow.severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagFilter:
    """Which flags are meant; None leaves a field open.

    `state` is as people see it: a flag whose rest is over counts as open. `class_label` ""
    stands for rules about the run as a whole.
    """

    state: FlagState | None = None
    at_least: Severity | None = None
    rule: str | None = None
    class_label: str | None = None
    run_id: str | None = None
    dataset: str | None = None
    project: str | None = None
    assignee: str | None = None
    in_badge: bool | None = None


@dataclass(frozen=True, slots=True)
class FlagPlace:
    """Where a flag stands in the inbox: the rank of its severity, then its number."""

    rank: int
    flag_id: int


@dataclass(frozen=True)
class FlagEntry:
    """A flag with the names of what it belongs to."""

    flag: FlagRecord
    run_name: str
    model: str | None
    dataset: str
    project: str


@dataclass(frozen=True)
class FlagPage:
    """Flags in order. `counts` are of all flags that differ at most in state from the filter."""

    entries: tuple[FlagEntry, ...]
    counts: Mapping[FlagState, int]
    following: FlagPlace | None


def flag_inbox(
    session: Session,
    *,
    wanted: FlagFilter,
    now: datetime,
    after: FlagPlace | None = None,
    limit: int,
) -> FlagPage:
    """A page of flags in two statements: the gravest first, of equally grave ones the newest."""
    statement = (
        _flags(FlagRow, RunRow.name, RunRow.model, DatasetRow.name, ProjectRow.name)
        .where(*_conditions(wanted, now))
        .order_by(_RANK.desc(), FlagRow.id.desc())
        .limit(limit + 1)
    )
    if after is not None:
        statement = statement.where(tuple_(_RANK, FlagRow.id) < (after.rank, after.flag_id))
    rows = session.execute(statement).all()
    entries = tuple(FlagEntry(record(row), *names) for row, *names in rows[:limit])
    last = entries[-1].flag if len(rows) > limit else None
    return FlagPage(
        entries,
        _counts(session, wanted, now),
        None if last is None else FlagPlace(last.standing.severity.rank, last.id),
    )


def flag_entry(session: Session, flag_id: int) -> FlagEntry | None:
    """One flag with the names of what it belongs to."""
    found = session.execute(
        _flags(FlagRow, RunRow.name, RunRow.model, DatasetRow.name, ProjectRow.name).where(
            FlagRow.id == flag_id
        )
    ).one_or_none()
    return None if found is None else FlagEntry(record(found[0]), *found[1:])


def _counts(session: Session, wanted: FlagFilter, now: datetime) -> dict[FlagState, int]:
    shown = case((_is_rest_over(now), FlagState.OPEN.value), else_=FlagRow.state)
    rows = session.execute(
        _flags(shown, func.count()).where(*_without_state(wanted)).group_by(shown)
    )
    counted = {FlagState(state): int(count) for state, count in rows}
    return {state: counted.get(state, 0) for state in FlagState}


def _flags(*columns: Any) -> Select[Any]:
    return (
        select(*columns)
        .select_from(FlagRow)
        .join(RunRow, RunRow.id == FlagRow.run_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .where(RunRow.deleted_at.is_(None))
    )


def _conditions(wanted: FlagFilter, now: datetime) -> list[ColumnElement[bool]]:
    found = _without_state(wanted)
    if wanted.state is not None:
        found.append(_has_state(wanted.state, now))
    return found


def _has_state(state: FlagState, now: datetime) -> ColumnElement[bool]:
    """The state as people see it at a moment."""
    if state is FlagState.OPEN:
        return or_(FlagRow.state == FlagState.OPEN, _is_rest_over(now))
    if state is FlagState.SNOOZED:
        return and_(FlagRow.state == FlagState.SNOOZED, FlagRow.snoozed_until > now)
    return FlagRow.state == state


def _is_rest_over(now: datetime) -> ColumnElement[bool]:
    return and_(FlagRow.state == FlagState.SNOOZED, FlagRow.snoozed_until <= now)


def _without_state(wanted: FlagFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.at_least is not None:
        graver = [each.value for each in SEVERITIES if each.rank >= wanted.at_least.rank]
        found.append(FlagRow.severity.in_(graver))
    for column, value in (
        (FlagRow.rule, wanted.rule),
        (FlagRow.class_label, wanted.class_label),
        (FlagRow.run_id, wanted.run_id),
        (DatasetRow.name, wanted.dataset),
        (ProjectRow.name, wanted.project),
        (FlagRow.assignee, wanted.assignee),
        (FlagRow.in_badge, wanted.in_badge),
    ):
        if value is not None:
            found.append(column == value)
    return found
