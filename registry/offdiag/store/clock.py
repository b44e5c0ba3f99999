"""Two clocks: this process's, for what people read, and the database's, for leases.

Leases are compared by several hosts whose clocks disagree, so they are given and judged by the
one clock that all of them share.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Double, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import Session
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


def utc_now() -> datetime:
    """The time of this process, aware and in UTC."""
    return datetime.now(UTC)


class database_now(FunctionElement[float]):  # noqa: N801 - it reads as the SQL function it is
    """SQL: seconds since 1970 by the clock of the database, going on within a transaction.

    Resolution is a millisecond on SQLite and a microsecond on PostgreSQL.
    """

    inherit_cache = True
    type = Double()
    name = "database_now"


@compiles(database_now, "sqlite")
def _on_sqlite(element: database_now, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ARG001
    # 2440587.5 is the Julian day on which 1970 began.
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(database_now, "postgresql")
def _on_postgresql(element: database_now, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ARG001
    # Not now(), which stands still from the first statement of a transaction on.
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"


def database_time(session: Session) -> datetime:
    """The time by the clock of the database, aware and in UTC."""
    return datetime.fromtimestamp(session.scalars(select(database_now())).one(), UTC)
