"""Statements on champions and candidates of datasets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Subquery, and_, func, or_, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import PromotionRole
from offdiag.domain.values import MetricValue
from offdiag.store.models import DatasetRow, ProjectRow, PromotionRow, RunRow
from offdiag.store.models.base import lock_row, record_as

_IS_THERE = and_(RunRow.id.is_not(None), RunRow.deleted_at.is_(None))
"""Whether the run of a decision is neither deleted nor removed permanently."""


@dataclass(frozen=True, slots=True)
class PromotionRecord:
    """A run that became champion or candidate; `run_id` is None if the role was withdrawn.

    `metrics` has the values by key when it was decided, on the label version `truth_number`, and
    `undefined` the reasons of undefined ones, None in decisions from before they were recorded.
    `gate` holds the results of the conditions that it was checked with, None without any.
    `is_weighted` is None if no run is left that could have sample weights.
    """

    id: int
    role: PromotionRole
    run_id: str | None
    run_name: str | None
    reason: str | None
    author: str | None
    at: datetime
    truth_number: int | None
    metrics: Mapping[str, float | None]
    undefined: Mapping[str, str] | None
    gate: Mapping[str, Any] | None
    is_weighted: bool | None

    @property
    def gate_passed(self) -> bool | None:
        """Whether all conditions were met; None without a gate."""
        return None if self.gate is None else bool(self.gate["passed"])


def lock_decisions(session: Session, dataset_id: int) -> None:
    """Serialise decisions on a dataset: the newest one is well defined, the one before known."""
    lock_row(session, DatasetRow, dataset_id)


def add_promotion(
    session: Session,
    *,
    dataset_id: int,
    role: PromotionRole,
    run: tuple[str, str] | None,
    reason: str | None,
    author: str | None,
    now: datetime,
    truth_number: int | None = None,
    metrics: Mapping[str, MetricValue] | None = None,
    gate: Mapping[str, Any] | None = None,
    is_weighted: bool | None = None,
) -> PromotionRecord:
    """Give a run, by id and name, a role from now on; None withdraws the role.

    The caller has called `lock_decisions`.
    """
    run_id, run_name = run or (None, None)
    metrics = metrics or {}
    row = PromotionRow(
        dataset_id=dataset_id,
        role=role,
        run_id=run_id,
        run_name=run_name,
        reason=reason,
        author=author,
        at=now,
        truth_number=truth_number,
        metrics={key: each.value for key, each in metrics.items()},
        undefined={key: each.reason for key, each in metrics.items() if each.reason is not None},
        gate=None if gate is None else dict(gate),
    )
    session.add(row)
    session.flush()  # The caller needs the number.
    return _record(row, is_weighted)


Promotions = Mapping[PromotionRole, PromotionRecord]


def promotions_in_force(
    session: Session, dataset_ids: Collection[int] | None = None
) -> dict[int, dict[PromotionRole, PromotionRecord]]:
    """Champion and candidate by dataset; `dataset_ids` None selects all datasets.

    A role is absent if no run has it, if it was withdrawn, or if its run was deleted.
    """
    statement = (
        select(PromotionRow, RunRow.is_weighted)
        .join(RunRow, RunRow.id == PromotionRow.run_id)
        .where(PromotionRow.id.in_(_newest()), RunRow.deleted_at.is_(None))
    )
    if dataset_ids is not None:
        statement = statement.where(PromotionRow.dataset_id.in_(dataset_ids))
    found: dict[int, dict[PromotionRole, PromotionRecord]] = {}
    for row, is_weighted in session.execute(statement):
        roles = found.setdefault(row.dataset_id, {})
        roles[PromotionRole(row.role)] = _record(row, is_weighted)
    return found


def decided_promotions(
    session: Session, dataset_id: int, *, limit: int
) -> tuple[dict[PromotionRole, PromotionRecord], list[PromotionRecord]]:
    """Champion and candidate of a dataset, and its last decisions, newest first; one statement."""
    here = PromotionRow.dataset_id == dataset_id
    last = select(PromotionRow.id).where(here).order_by(PromotionRow.id.desc()).limit(limit)
    rows = session.execute(
        select(PromotionRow, RunRow.is_weighted, _IS_THERE)
        .outerjoin(RunRow, RunRow.id == PromotionRow.run_id)
        .where(or_(PromotionRow.id.in_(_newest(here)), PromotionRow.id.in_(last)))
        .order_by(PromotionRow.id.desc())
    )
    decided: dict[PromotionRole, PromotionRecord] = {}
    seen: set[PromotionRole] = set()
    history = []
    for row, is_weighted, is_there in rows:
        record = _record(row, is_weighted)
        history.append(record)
        if record.role not in seen and is_there:
            decided[record.role] = record
        seen.add(record.role)
    return decided, history[:limit]


def runs_in_roles() -> Subquery:
    """`run_id` and `role` of champions and candidates; a run that is both counts as champion."""
    return (
        # Of the two words, that of the champion is the greater one.
        select(PromotionRow.run_id, func.max(PromotionRow.role).label("role"))
        .where(PromotionRow.id.in_(_newest()), PromotionRow.run_id.is_not(None))
        .group_by(PromotionRow.run_id)
        .subquery()
    )


def _newest(*where: ColumnElement[bool]) -> ScalarSelect[int]:
    """The last decision on each role of each dataset."""
    return (
        select(func.max(PromotionRow.id))
        .where(*where)
        .group_by(PromotionRow.dataset_id, PromotionRow.role)
        .scalar_subquery()
    )


def promotions_since(
    session: Session, at: datetime | None, *, limit: int
) -> list[tuple[str, str, PromotionRecord]]:
    """Project, dataset and decision for decisions after a moment, newest first.

    Decisions about runs that were deleted are left out.
    """
    statement = (
        select(ProjectRow.name, DatasetRow.name, PromotionRow, RunRow.is_weighted)
        .join(DatasetRow, DatasetRow.id == PromotionRow.dataset_id)
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .outerjoin(RunRow, RunRow.id == PromotionRow.run_id)
        .where(or_(PromotionRow.run_id.is_(None), _IS_THERE))
        .order_by(PromotionRow.id.desc())
        .limit(limit)
    )
    if at is not None:
        statement = statement.where(PromotionRow.at > at)
    rows = session.execute(statement)
    return [
        (project, dataset, _record(row, is_weighted))
        for project, dataset, row, is_weighted in rows
    ]


def _record(row: PromotionRow, is_weighted: bool | None) -> PromotionRecord:
    role = PromotionRole(row.role)
    return record_as(PromotionRecord, row, role=role, is_weighted=is_weighted)
