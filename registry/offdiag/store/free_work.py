"""Which work anybody may take, and taking it.

Work is free while it waits and its time has come, and while somebody's lease on it has run
out. Idle workers ask for it all the time, so each statement is built once, with parameters for
what changes: that takes longer than to answer it.
"""

from __future__ import annotations

from functools import cache

from sqlalchemy import (
    ColumnElement,
    Select,
    Update,
    and_,
    bindparam,
    exists,
    or_,
    select,
    text,
    union_all,
    update,
)
from sqlalchemy.orm import Session

from offdiag.store.clock import database_now
from offdiag.store.models import ProjectRow, WorkRow
from offdiag.store.work import WAITING, Lease

_DOING = text("state = 'doing'")


def projects_with_due_work(
    session: Session, *, max_attempts: int, at_most: int | None = None
) -> list[int | None]:
    """The projects that somebody could work for now; None stands for none in particular.

    Where `at_most` is given, only work of at most that size is looked at, here and below.
    """
    given = {"max_attempts": max_attempts, "at_most": at_most}
    found: list[int | None] = list(
        session.scalars(_projects(has_limit=at_most is not None), given)
    )
    if next_due(session, None, max_attempts=max_attempts, at_most=at_most) is not None:
        found.append(None)
    return found


def next_due(
    session: Session, project_id: int | None, *, max_attempts: int, at_most: int | None = None
) -> int | None:
    """Id of the work for a project that has waited longest: due, or with an expired lease."""
    statement = _oldest(for_project=project_id is not None, has_limit=at_most is not None)
    given = {"max_attempts": max_attempts, "at_most": at_most, "for_project": project_id}
    found = session.execute(statement, given).first()
    return None if found is None else int(found.id)


def due_ids(session: Session, *, max_attempts: int, limit: int) -> list[int]:
    """Ids of work that anybody may claim, oldest first."""
    return list(session.scalars(_due().limit(limit), {"max_attempts": max_attempts}))


def claim(
    session: Session,
    work_id: int,
    *,
    token: str,
    lease_s: float,
    max_attempts: int,
    at_most: int | None = None,
) -> Lease | None:
    """Take the lease on work that is free. None if somebody else was faster, or it is larger."""
    found = session.execute(
        _claim(has_limit=at_most is not None),
        {
            "work_id": work_id,
            "token": token,
            "held_for_s": lease_s,
            "max_attempts": max_attempts,
            "at_most": at_most,
        },
    ).one_or_none()
    return None if found is None else Lease(work_id, token, *found)


@cache
def _projects(*, has_limit: bool) -> Select[int]:
    waits = (
        exists(select(WorkRow.id).where(WorkRow.project_id == ProjectRow.id, part))
        for part in _free_parts(has_limit=has_limit)
    )
    return select(ProjectRow.id).where(or_(*waits))


@cache
def _oldest(*, for_project: bool, has_limit: bool) -> Select[int]:
    """The oldest of either part: each has an index of its own, which one search would not use."""
    project: ColumnElement[int] | None = bindparam("for_project") if for_project else None
    parts = [
        select(WorkRow.due, WorkRow.id)
        .where(WorkRow.project_id == project, part)
        .order_by(WorkRow.due, WorkRow.id)
        .limit(1)
        .subquery()
        for part in _free_parts(has_limit=has_limit)
    ]
    either = union_all(*(select(part.c.due, part.c.id) for part in parts)).subquery()
    return select(either.c.id).order_by(either.c.due, either.c.id).limit(1)


@cache
def _due() -> Select[int]:
    return (
        select(WorkRow.id)
        .where(or_(*_free_parts(has_limit=False)))
        .order_by(WorkRow.due, WorkRow.id)
    )


@cache
def _claim(*, has_limit: bool) -> Update:
    return (
        update(WorkRow)
        .where(WorkRow.id == bindparam("work_id"), or_(*_free_parts(has_limit=has_limit)))
        .values(
            state="doing",
            attempts=WorkRow.attempts + 1,
            lease=bindparam("token"),
            lease_until=database_now() + bindparam("held_for_s"),
        )
        .returning(WorkRow.task, WorkRow.args, WorkRow.key, WorkRow.attempts, WorkRow.request_id)
        .execution_options(synchronize_session=False)
    )


def _free_parts(*, has_limit: bool) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    fits = [WorkRow.size <= bindparam("at_most")] if has_limit else []
    waiting = and_(WAITING, WorkRow.due <= database_now(), *fits)
    expired = and_(_DOING, WorkRow.lease_until < database_now(), *fits)
    return waiting, and_(expired, WorkRow.attempts < bindparam("max_attempts"))
