"""PostgreSQL databases that are emptied after a test and lent to the next one.

Making and dropping a database takes as long as many a test; deleting what a test left behind
takes a tenth of that. A database whose schema a test has touched is dropped instead. Each loan
has a name of its own: who still has a connection to an earlier one, which was ended, cannot take
it for one to the database of another test.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import psycopg
from psycopg import sql

from support.postgres import PostgresServer

_OURS = 16_384
"""The first id of what was not there when the server was made."""

_MOST_USES = 100
"""Deleted rows stay in the files, since nothing tidies up."""

_FINGERPRINT = f"""
    SELECT md5(string_agg(part, chr(10) ORDER BY part)) FROM (
        SELECT concat_ws(' ', 'relation', oid, relname, relacl, reloptions) AS part
            FROM pg_class WHERE oid >= {_OURS} AND relkind <> 't'
        UNION ALL SELECT concat_ws(' ', 'column', attrelid, attname, atttypid, attnotnull,
                                   attstorage, attacl)
            FROM pg_attribute WHERE attrelid >= {_OURS} AND attnum > 0
        UNION ALL SELECT concat_ws(' ', 'constraint', oid, convalidated) FROM pg_constraint
            WHERE oid >= {_OURS}
        UNION ALL SELECT concat_ws(' ', 'default', oid) FROM pg_attrdef
        UNION ALL SELECT concat_ws(' ', 'trigger', oid, tgenabled) FROM pg_trigger
        UNION ALL SELECT concat_ws(' ', 'function', oid, proacl) FROM pg_proc WHERE oid >= {_OURS}
        UNION ALL SELECT concat_ws(' ', 'schema', oid, nspname, nspacl) FROM pg_namespace
            WHERE nspname NOT LIKE 'pg\\_%'
        UNION ALL SELECT concat_ws(' ', 'setting', setrole, setconfig)
            FROM pg_db_role_setting WHERE setdatabase =
                (SELECT oid FROM pg_database WHERE datname = current_database())
        UNION ALL SELECT concat_ws(' ', 'revision', version_num) FROM alembic_version
    ) AS parts
"""

_TABLES = """
    SELECT relname FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version'
"""

_START_AGAIN = "SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'"

_END_OTHERS = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend'
"""


class Stock:
    """Empty databases at the head, made as they are needed."""

    def __init__(self, server: PostgresServer, template: str) -> None:
        self._server = server
        self._template = template
        self._numbers = count(1)
        self._idle: list[str] = []
        self._uses: dict[str, int] = {}
        self._fresh: dict[str, object] = {}
        self._lasting = psycopg.connect(server.url("postgres"), autocommit=True)
        with psycopg.connect(server.url(template)) as connection:
            tables = sorted(name for (name,) in connection.execute(_TABLES))
        # Without the checks of foreign keys the order does not matter.
        self._empty = "; ".join(
            (
                "SET session_replication_role = replica",
                *(f'DELETE FROM "{table}"' for table in tables),
                _START_AGAIN,
            )
        )

    def close(self) -> None:
        """Leave the server."""
        self._lasting.close()

    @contextmanager
    def lent(self) -> Iterator[str]:
        """The URL of an empty database; what it holds at the end is gone."""
        name = self._renamed(self._idle.pop()) if self._idle else self._made()
        try:
            yield self._server.url(name)
        finally:
            if self._emptied(name):
                self._idle.append(name)
            else:
                self._server.drop(name)

    def _made(self) -> str:
        name = self._new_name()
        self._server.create(name, template=self._template)
        self._uses[name] = 0
        with psycopg.connect(self._server.url(name)) as connection:
            self._fresh[name] = connection.execute(_FINGERPRINT).fetchone()
        return name

    def _renamed(self, idle: str) -> str:
        name = self._new_name()
        self._lasting.execute(
            sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
                sql.Identifier(idle), sql.Identifier(name)
            )
        )
        self._uses[name] = self._uses.pop(idle)
        self._fresh[name] = self._fresh.pop(idle)
        return name

    def _new_name(self) -> str:
        return f"lent_{next(self._numbers)}"

    def _emptied(self, name: str) -> bool:
        """Whether the database is as when it was made; if not, nothing can be said of it."""
        self._uses[name] += 1
        if self._uses[name] > _MOST_USES:
            return False
        try:
            with psycopg.connect(self._server.url(name), autocommit=True) as connection:
                connection.execute(_END_OTHERS)
                if connection.execute(_FINGERPRINT).fetchone() != self._fresh[name]:
                    return False
                # Several statements in one message are one transaction.
                connection.execute(sql.SQL(self._empty))
        except psycopg.Error:
            return False
        return True
