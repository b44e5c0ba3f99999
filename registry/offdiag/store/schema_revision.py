"""Noticing that somebody else changed the schema while this program was running."""

from __future__ import annotations

from sqlalchemy import Connection

from offdiag.errors import SchemaMismatch


def require_revision(connection: Connection, wanted: str, *, place: str) -> None:
    """Raise `SchemaMismatch` unless a registry still has the revision it had when it was opened.

    One small statement, so that every transaction that writes can afford it.
    """
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if found != wanted:
        raise SchemaMismatch(
            f"{place} was brought to schema {found} while this program, which needs {wanted}, "
            "was running.",
            hint="Start it again, in the version of offdiag that the others have now.",
        )
