"""Asking the database itself whether its file is sound."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

_MOST_SHOWN = 5


def integrity_problems(session: Session) -> list[str]:
    """What SQLite finds wrong with its file, in its own words; empty if all is well.

    It looks at every page and every reference. A PostgreSQL server checks references whenever
    it writes, and its pages are the business of its own tools (checksums, pg_amcheck).
    """
    if session.get_bind().dialect.name != "sqlite":
        return []
    problems = [
        str(row[0])
        for row in session.execute(text(f"PRAGMA integrity_check({_MOST_SHOWN})"))
        if row[0] != "ok"
    ]
    broken = session.execute(text("PRAGMA foreign_key_check")).fetchmany(_MOST_SHOWN)
    return problems + [f"a row of {row[0]} refers to a missing row of {row[2]}" for row in broken]
