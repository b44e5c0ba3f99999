"""The flags of a report: those that fire for its runs, the gravest first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from offdiag.flags.lifecycle import FlagState
from offdiag.flags.verdict import SEVERITIES, Severity
from offdiag.reports.snapshot import FlagFigures
from offdiag.store.flags import record
from offdiag.store.models import FlagRow, RunRow

_RANK = case({severity.value: severity.rank for severity in SEVERITIES}, value=FlagRow.severity)


@dataclass(frozen=True, slots=True)
class FiringFlags:
    """The gravest flags, and how many there are of all."""

    flags: tuple[FlagFigures, ...]
    n_flags: int


def firing_flags(
    session: Session, run_ids: Collection[str], *, now: datetime, limit: int
) -> FiringFlags:
    """Flags of runs that have not been closed and are more than a remark; two statements.

    Their states are those that people see at `now`.
    """
    rows = session.execute(
        select(FlagRow, RunRow.name)
        .join(RunRow, RunRow.id == FlagRow.run_id)
        .where(*_fires_for(run_ids))
        .order_by(_RANK.desc(), FlagRow.id)
        .limit(limit)
    ).all()
    counted = session.scalar(select(func.count()).select_from(FlagRow).where(*_fires_for(run_ids)))
    return FiringFlags(tuple(_figures(row, name, now) for row, name in rows), counted or 0)


def _fires_for(run_ids: Collection[str]) -> tuple[ColumnElement[bool], ...]:
    return (
        FlagRow.run_id.in_(run_ids),
        FlagRow.state != FlagState.CLOSED,
        FlagRow.severity != Severity.INFO,
    )


def _figures(row: FlagRow, run_name: str, now: datetime) -> FlagFigures:
    flag = record(row)
    return FlagFigures(
        run_id=flag.run_id,
        run_name=run_name,
        rule=flag.content.rule,
        class_label=flag.content.class_label,
        severity=flag.standing.severity,
        state=flag.standing.state_at(now),
        message=flag.content.message,
        badge="hides" if flag.content.hides else "may hide" if flag.content.may_hide else "",
    )
