"""The tables a database has, as an archive sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import JSON, Connection, MetaData, Table, inspect, select, text

from offdiag.store.models import Base
from offdiag.store.types import Json

BOOKKEEPING = "alembic_version"
SIGNS_OF_LIFE = "heartbeat"
"""Tells which processes there are, and nothing that would be true in another database."""


def reflected_tables(connection: Connection) -> list[Table]:
    """Our tables as they are in this database, those that others refer to first.

    They are asked for and not taken from the models, because an archive may be of an older
    schema than the models describe. A PostgreSQL database may hold tables of others; those are
    left alone.
    """
    known = set(Base.metadata.tables)
    found = set(inspect(connection).get_table_names()) & known
    metadata = MetaData()
    metadata.reflect(connection, only=sorted(found))
    tables = [table for table in metadata.sorted_tables if table.name in found]
    for table in tables:
        for column in table.columns:
            if isinstance(column.type, JSON):
                # A missing document is SQL NULL here, and would be the document null.
                column.type = Json
    return tables


def sequences(connection: Connection, tables: Sequence[Table]) -> dict[str, int]:
    """The last id that each table handed out, of those that count their rows."""
    if connection.dialect.name == "sqlite":
        rows = connection.execute(text("SELECT name, seq FROM sqlite_sequence"))
        ours = {table.name for table in tables}
        return {name: seq for name, seq in rows if name in ours}
    found = {}
    for table in tables:
        sequence = _sequence_of(connection, table)
        if sequence is not None:
            last = connection.scalar(
                text("SELECT pg_sequence_last_value(CAST(:name AS regclass))"), {"name": sequence}
            )
            if last is not None:
                found[table.name] = int(last)
    return found


def set_sequences(
    connection: Connection, tables: Sequence[Table], last: Mapping[str, int]
) -> None:
    """Let each table go on counting after the last id, so that none is handed out twice."""
    for table in tables:
        # SQLite also says of a table that it has handed out nothing, as 0.
        if not last.get(table.name):
            continue
        if connection.dialect.name == "sqlite":
            values = {"name": table.name, "last": last[table.name]}
            changed = connection.execute(
                text("UPDATE sqlite_sequence SET seq = :last WHERE name = :name"), values
            )
            if changed.rowcount == 0:
                connection.execute(
                    text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :last)"), values
                )
            continue
        sequence = _sequence_of(connection, table)
        if sequence is not None:
            connection.execute(
                text("SELECT setval(CAST(:name AS regclass), :last)"),
                {"name": sequence, "last": last[table.name]},
            )


def holds_anything(connection: Connection, tables: Sequence[Table]) -> bool:
    """Whether any table has a row, signs of life aside."""
    return any(
        connection.execute(select(table).limit(1)).first() is not None
        for table in tables
        if table.name != SIGNS_OF_LIFE
    )


def _sequence_of(connection: Connection, table: Table) -> str | None:
    if "id" not in table.columns:
        return None
    name: str | None = connection.scalar(
        text("SELECT pg_get_serial_sequence(:table, 'id')"), {"table": table.name}
    )
    return name
