"""Making the views, giving them to roles, and keeping them out of the way of schema changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from offdiag.errors import Conflict, InvalidInput
from offdiag.store.bi.readers import check_reader, limit_reader, quoted
from offdiag.store.bi.views import OCCUPIED_CELLS, SCHEMA, VIEWS, View
from offdiag.store.database import Database

_OTHERS_DEPEND = "2BP01"


@dataclass(frozen=True)
class Published:
    """The views there are, the roles that can read them, and what only an administrator can do."""

    views: tuple[str, ...]
    readers: tuple[str, ...]
    left_to_do: tuple[str, ...]

    def to_dict(self) -> dict[str, list[str]]:
        """Plain Python values."""
        return {name: list(getattr(self, name)) for name in ("views", "readers", "left_to_do")}


def publish_views(database: Database, readers: Sequence[str]) -> Published:
    """Make the views, or make them anew, and let these roles read them beside earlier ones.

    The database must have the current schema. Raises `InvalidInput` on SQLite and for a role that
    does not exist or is more than a reader, `Conflict` where views of others depend on ours.
    """
    _require_postgres(database)
    with database.migrate() as connection:
        for role in readers:
            check_reader(connection, role)
        take_down(connection)
        connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
        for role in readers:
            connection.execute(text(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {quoted(role)}"))
        put_up(connection)
        left_to_do = [todo for role in readers for todo in limit_reader(connection, role)]
        names = tuple(view.name for view in VIEWS)
        return Published(names, _readers(connection), tuple(left_to_do))


def remove_views(database: Database) -> None:
    """Remove the views and their schema.

    Raises `InvalidInput` on SQLite, `Conflict` where something of others is or depends on them.
    """
    _require_postgres(database)
    with database.migrate() as connection:
        take_down(connection)
        _dropped(connection, f"DROP SCHEMA IF EXISTS {SCHEMA}")


def take_down(connection: Connection) -> None:
    """Drop the views, so that tables can change under them; who may read stays known."""
    if not _is_there(connection):
        return
    for view in reversed(VIEWS):
        _dropped(connection, f"DROP VIEW IF EXISTS {SCHEMA}.{view.name}")
    _dropped(connection, f"DROP FUNCTION IF EXISTS {SCHEMA}.occupied_cells(bytea, integer)")


def put_up(connection: Connection) -> None:
    """Make the views for whoever could read them before, where there were any."""
    if not _is_there(connection):
        return
    connection.execute(text(OCCUPIED_CELLS.replace(":", r"\:")))
    for view in VIEWS:
        connection.execute(text(_statement(view).replace(":", r"\:")))
        for role in _readers(connection):
            connection.execute(text(f"GRANT SELECT ON {SCHEMA}.{view.name} TO {quoted(role)}"))


def _statement(view: View) -> str:
    # A barrier: no function in a question sees rows that the view leaves out.
    columns = ", ".join(view.columns)
    return (
        f"CREATE VIEW {SCHEMA}.{view.name} ({columns}) WITH (security_barrier = true) "
        f"AS {view.source}"
    )


def _is_there(connection: Connection) -> bool:
    if connection.dialect.name != "postgresql":
        return False
    found = connection.scalar(text("SELECT to_regnamespace(:name)"), {"name": SCHEMA})
    return found is not None


def _readers(connection: Connection) -> tuple[str, ...]:
    """Roles, other than its owner, that may enter the schema."""
    rows = connection.execute(
        text(
            "SELECT DISTINCT r.rolname FROM pg_namespace AS n, aclexplode(n.nspacl) AS acl "
            "JOIN pg_roles AS r ON r.oid = acl.grantee "
            "WHERE n.nspname = :name AND acl.grantee <> n.nspowner ORDER BY 1"
        ),
        {"name": SCHEMA},
    )
    return tuple(rows.scalars())


def _dropped(connection: Connection, statement: str) -> None:
    try:
        connection.execute(text(statement))
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) != _OTHERS_DEPEND:
            raise
        raise Conflict(
            f"something of others is in the schema {SCHEMA} or depends on it ({error.orig}).",
            hint="Drop it first, and make it again afterwards.",
        ) from error


def _require_postgres(database: Database) -> None:
    if database.dialect != "postgresql":
        raise InvalidInput(
            "a file has no roles, so there is nothing to give views to.",
            field="database.url",
            hint="`offdiag sql` answers questions in SQL about an SQLite registry.",
        )
