"""What one database has compiled of its statements, remembered for the next one of its kind.

Every test has a database of its own, hence a dialect and a cache of its own. Writing the same
statements as SQL anew took a tenth of the time of the tests that use one.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

_KEPT = 5_000
"""More statements than there are."""

Dialect = PGDialect_psycopg | SQLiteDialect_pysqlite


def remember_statements() -> None:
    """Let all engines share what they compile, where their dialects cannot differ in it."""
    compiled: LRUCache[Any, Any] = LRUCache(_KEPT)
    begin_alone = Engine.__init__

    def begin(engine: Engine, *arguments: Any, **named: Any) -> None:
        begin_alone(engine, *arguments, **named)
        engine._compiled_cache = compiled

    Engine.__init__ = begin  # type: ignore[method-assign,assignment]  # no event
    for dialect in (PGDialect_psycopg, SQLiteDialect_pysqlite):
        # Statements are looked up by their dialect, as the mappers do in caches of their own.
        dialect.__eq__ = _is_same  # type: ignore[method-assign,assignment]
        dialect.__hash__ = _hash  # type: ignore[method-assign,assignment]


def _is_same(one: Dialect, other: object) -> bool:
    return isinstance(other, type(one)) and _traits(one) == _traits(other)


def _hash(dialect: Dialect) -> int:
    return hash(_traits(dialect))


def _traits(dialect: Dialect) -> Hashable:
    """The version of the server is known from the first connection on."""
    return (type(dialect), dialect.server_version_info, dialect._json_serializer)
