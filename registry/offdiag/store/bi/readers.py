"""Roles that read the views: what they must not be, and the limits they get."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from offdiag.errors import InvalidInput

_LIMITS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "60s",
    "idle_in_transaction_session_timeout": "60s",
}
_NOT_ALLOWED = "42501"


def quoted(name: str) -> str:
    """A name as SQL, whatever is in it; a colon stays a colon in a statement with parameters."""
    return '"' + name.replace('"', '""').replace(":", r"\:") + '"'


def check_reader(connection: Connection, role: str) -> None:
    """Raise `InvalidInput` for a role that does not exist or can do more than read."""
    found = connection.execute(
        text(
            "SELECT rolsuper, pg_has_role(rolname, current_user, 'MEMBER') AS is_owner "
            "FROM pg_roles WHERE rolname = :role"
        ),
        {"role": role},
    ).one_or_none()
    if found is None:
        raise InvalidInput(
            f"there is no role {role!r}.",
            field="reader",
            hint="Whoever runs the server makes it: createuser --pwprompt NAME",
        )
    if found.rolsuper or found.is_owner:
        raise InvalidInput(
            f"the role {role!r} can change the registry.",
            field="reader",
            hint="Make one that owns nothing and belongs to no role that does.",
        )


def limit_reader(connection: Connection, role: str) -> Iterator[str]:
    """Limit what a role does in this database; yields what an administrator has to do instead."""
    database = connection.scalar(text("SELECT current_database()"))
    for name, value in _LIMITS.items():
        whom = f"ALTER ROLE {quoted(role)} IN DATABASE {quoted(database)}"
        statement = f"{whom} SET {name} = '{value}'"
        try:
            with connection.begin_nested():
                connection.execute(text(statement))
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) != _NOT_ALLOWED:
                raise
            yield statement.replace(r"\:", ":")
