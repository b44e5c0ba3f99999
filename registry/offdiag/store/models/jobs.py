"""Tables for jobs, one row for each, and heartbeats of the processes that do them.

The table is in the same database as the data, so that a run and its jobs are committed together or
not at all. A row is deleted in the transaction that writes its result, so a worker that dies in
between has done nothing; the results show what was done, not this table.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from offdiag.store.models.base import (
    IDS_ARE_NEVER_REUSED,
    Base,
    Identifier,
    finite,
    one_of,
    whole_number,
)

WORK_STATES = ("todo", "doing", "dead")
EVALUATION_KEY, REPORT_KEY, DELIVERY_KEY = "evaluate:", "report:", "deliver:"
"""The beginning of the key of a job; the id of its run, edition or delivery follows."""


def _index_where(name: str, *columns: str, state: str, unique: bool = False) -> Index:
    predicate = text(f"state = '{state}'")
    return Index(name, *columns, unique=unique, sqlite_where=predicate, postgresql_where=predicate)


class WorkRow(Base):
    """Times are seconds since 1970 by the database's own clock, which all hosts share.

    At most one row per `key` waits; while it runs the key is free again, so that a change in the
    meantime can submit another pass. `project_id` is the project it is for, so that projects take
    turns; older jobs have none. `size` is how many predicted classes and scores it reads, NULL if
    unknown, so that small jobs need not wait behind large ones. `losses` counts leases that were
    lost without an error of the task, which do not count as `attempts`. `request_id` is the
    request that submitted it, as in the logs.
    """

    __tablename__ = "work"
    __table_args__ = (
        one_of("state", WORK_STATES),
        whole_number("attempts"),
        _index_where("uq_work_key_todo", "key", state="todo", unique=True),
        _index_where("ix_work_due_id_todo", "due", "id", state="todo"),
        _index_where("ix_work_project_id_due_id_todo", "project_id", "due", "id", state="todo"),
        _index_where("ix_work_lease_until_doing", "lease_until", state="doing"),
        IDS_ARE_NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(Identifier, primary_key=True)
    task: Mapped[str]
    args: Mapped[dict[str, Any]]
    key: Mapped[str]
    state: Mapped[str]
    due: Mapped[float]
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    losses: Mapped[int] = mapped_column(server_default=text("0"))
    lease: Mapped[str | None]
    lease_until: Mapped[float | None]
    error: Mapped[str | None]
    created_at: Mapped[float]
    project_id: Mapped[int | None] = mapped_column(BigInteger)
    size: Mapped[int | None] = mapped_column(BigInteger)
    request_id: Mapped[str | None]


HEARTBEAT_KINDS = ("worker", "scheduler")


class HeartbeatRow(Base):
    """`seen_at` is in seconds since 1970 by the database's clock, which all hosts share."""

    __tablename__ = "heartbeat"
    __table_args__ = (one_of("kind", HEARTBEAT_KINDS), whole_number("pid"), finite("seen_at"))

    name: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    host: Mapped[str]
    pid: Mapped[int]
    started_at: Mapped[datetime]
    seen_at: Mapped[float]
