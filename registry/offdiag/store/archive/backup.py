"""Backing up a whole registry to one archive, and restoring it.

Rows are written a few megabytes at a time, and compared value by value after they are loaded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, LargeBinary, Select, Table, func, insert, select, text, update
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, StatementError

import offdiag_migrations
from offdiag.errors import Conflict, DatabaseUnavailable, InvalidInput, SchemaMismatch
from offdiag.store import schema
from offdiag.store.archive.file import (
    ArchiveReader,
    ArchiveWriter,
    Manifest,
    Progress,
    opened_archive,
    require_disk_space,
    written_archive,
)
from offdiag.store.archive.rows import (
    BOOKKEEPING,
    SIGNS_OF_LIFE,
    PlainRow,
    decode_rows,
    encode_rows,
    holds_anything,
    inserted_row,
    plain_row,
    reflected_tables,
    sequences,
    set_sequences,
    size_of,
)
from offdiag.store.bi_views import put_up, take_down
from offdiag.store.database import Database, Session, database_now
from offdiag.store.health import integrity_problems
from offdiag.store.models import WorkRow
from offdiag.store.sqlite import require_local, require_writable

_MOST_ROWS = 20_000
_MOST_BYTES = 16 << 20
_ROWS_AT_ONCE = 1_000


def lift_time_limits(connection: Connection) -> None:
    """Lift the time limits of this transaction, which reads everything."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))


def dump_tables(
    connection: Connection,
    rows: Mapping[Table, Select[Any]],
    path: Path,
    manifest: Manifest,
    progress: Progress,
) -> Manifest:
    """Write an archive of these rows by table; returns its complete manifest."""
    n_rows = sum(
        connection.scalar(select(func.count()).select_from(statement.subquery())) or 0
        for statement in rows.values()
    )
    with written_archive(path, manifest, n_rows=n_rows, progress=progress) as archive:
        for table, statement in rows.items():
            dump_table(connection, table, statement, archive)
    return archive.manifest


def dump_table(
    connection: Connection, table: Table, statement: Select[Any], archive: ArchiveWriter
) -> None:
    """Write the rows of a statement over a table, by primary key."""
    for data, n_rows in encoded_parts(connection, table, statement):
        archive.add(table.name, data, n_rows=n_rows)


def encoded_parts(
    connection: Connection, table: Table, statement: Select[Any]
) -> Iterator[tuple[bytes, int]]:
    """Encode the rows of a statement over a table as parts, each with its number of rows.

    Equal rows give equal bytes. Raises `DatabaseUnavailable` for values that nobody wrote.
    """
    try:
        for part in _parts(_rows(connection, table, statement)):
            yield encode_rows(table, part), len(part)
    except (ValueError, TypeError) as error:
        raise _damaged_database(
            str(connection.engine.url.database), f"a row of {table.name} cannot be read ({error})"
        ) from error


def _rows(connection: Connection, table: Table, statement: Select[Any]) -> Iterator[PlainRow]:
    ordered = statement.order_by(*table.primary_key.columns)
    at_once = _rows_at_once(connection, table, statement)
    found = connection.execute(ordered.execution_options(yield_per=at_once)).mappings()
    return (plain_row(table, row) for row in found)


def _rows_at_once(connection: Connection, table: Table, statement: Select[Any]) -> int:
    """How many rows fit into one part; the scores of one chunk may take a hundred megabytes."""
    blobs = [column.name for column in table.columns if isinstance(column.type, LargeBinary)]
    if not blobs:
        return _ROWS_AT_ONCE
    rows = statement.subquery()
    sizes = [func.coalesce(func.length(rows.c[name]), 0) for name in blobs]
    largest = connection.scalar(select(func.max(sum(sizes[1:], start=sizes[0])))) or 1
    return max(1, min(_ROWS_AT_ONCE, _MOST_BYTES // max(largest, 1)))


def _parts(rows: Iterable[PlainRow]) -> Iterator[list[PlainRow]]:
    part: list[PlainRow] = []
    n_bytes = 0
    for row in rows:
        part.append(row)
        n_bytes += size_of(row)
        if len(part) == _MOST_ROWS or n_bytes >= _MOST_BYTES:
            yield part
            part, n_bytes = [], 0
    if part:
        yield part


def require_same_rows(
    connection: Connection, tables: Iterable[Table], archive: ArchiveReader, progress: Progress
) -> None:
    """Read every row back, and raise `Conflict`, naming the tables, if any row differs.

    Rows are compared by SHA-256 over their values, in the order of their keys. The order of the
    names in a JSON document does not count, nor that a number such as 1e20 is a float: PostgreSQL
    has its own order and writes numbers without exponents.
    """
    n_done, different = 0, []
    for table in tables:
        n_rows = archive.manifest.rows_by_table.get(table.name, 0)
        given = _digest(_rows_of(archive, table))
        rows = _rows(connection, table, select(table))
        kept = _digest(inserted_row(table, row) for row in rows)
        if given != kept:
            different.append(table.name)
        n_done += n_rows
        progress(n_done, archive.manifest.n_rows)
    if different:
        raise Conflict(
            f"the database does not return the rows it was given, in {', '.join(different)}.",
            field="database",
            hint="Nothing was copied. `offdiag db backup` and `offdiag db restore` move a "
            "registry without this check.",
        )


def _rows_of(archive: ArchiveReader, table: Table) -> Iterator[Mapping[str, Any]]:
    return chain.from_iterable(_parts_of(archive, table))


def _parts_of(archive: ArchiveReader, table: Table) -> Iterator[Iterator[dict[str, Any]]]:
    """The rows of each part of a table, to be read one part at a time."""
    for part in archive.manifest.parts:
        if part.table == table.name:
            yield decode_rows(table, archive.read(part), n_rows=part.n_rows)


def _digest(rows: Iterable[Mapping[str, Any]]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        for name, value in row.items():
            content = value if isinstance(value, bytes) else _text(value).encode()
            digest.update(f"{name} {type(value).__name__} {len(content)} ".encode())
            digest.update(content)
    return digest.hexdigest()


def _text(value: object) -> str:
    if isinstance(value, (dict, list)):
        alike = json.loads(json.dumps(value), parse_float=_as_on_a_server)
        return json.dumps(alike, sort_keys=True)
    return value.isoformat() if isinstance(value, datetime) else repr(value)


def _as_on_a_server(number: str) -> int | float:
    """A float of a document as PostgreSQL returns it: 1e20 with all its digits, and no -0.0."""
    return int(Decimal(number)) if "e+" in number else float(number) + 0.0


def load_archive(connection: Connection, archive: ArchiveReader, progress: Progress) -> None:
    """Insert every row of an archive. The database must be empty and have the archive's schema.

    Raises `InvalidInput` when the archive holds tables that this schema does not have, rows that
    the database refuses, or references to missing rows.
    """
    manifest = archive.manifest
    tables = reflected_tables(connection)
    unknown = manifest.rows_by_table.keys() - {table.name for table in tables}
    if unknown:
        raise _strange(f"a registry of schema {manifest.schema} has no table {min(unknown)}")
    n_done = 0
    for table in tables:
        # A thousand rows of several parts may be larger than memory.
        for part in _parts_of(archive, table):
            while batch := list(islice(part, _ROWS_AT_ONCE)):
                _insert(connection, table, batch)
                n_done += len(batch)
                progress(n_done, manifest.n_rows)
    _require_references(connection)
    set_sequences(connection, tables, manifest.sequences)


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    try:
        connection.execute(insert(table), rows)
    except (IntegrityError, DataError) as error:
        raise _strange(f"a row of {table.name} is refused ({error.orig})") from error
    except DBAPIError:
        raise  # The disk or the network; the database's own message says so.
    except StatementError as error:
        raise _strange(f"a row of {table.name} is refused ({error.orig})") from error


def _require_references(connection: Connection) -> None:
    """Check foreign keys on SQLite, where they are off while a schema is being created."""
    if connection.dialect.name == "sqlite":
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise _strange(f"a row of {broken[0]} refers to a missing row of {broken[2]}")


def _strange(what: str) -> InvalidInput:
    return InvalidInput(
        f"{what}.",
        field="file",
        hint="Nothing was changed; the archive was not made by offdiag.",
    )


def write_backup(
    database: Database, path: Path, *, written_by: str, now: datetime, progress: Progress
) -> Manifest:
    """Write everything as it is at one moment, while others keep working.

    Raises `SchemaMismatch` for a database without offdiag's tables or with a newer schema,
    `DatabaseUnavailable` for a damaged one, and `Conflict`, `StorageFull` or `InvalidInput` for a
    file that cannot be created.
    """
    if schema.check(database).current is None:
        # Reading an SQLite file that does not exist would create it.
        raise _nothing_to_back_up(database)
    with database.read() as session:
        connection = session.connection()
        lift_time_limits(connection)
        state = schema.state_of(connection)
        if state.current is None or state.is_newer:
            raise _nothing_to_back_up(database)
        if state.is_current:
            _require_complete(database, connection)
        require_intact(session, database.place)
        tables = [t for t in reflected_tables(connection) if t.name != SIGNS_OF_LIFE]
        rows = {table: select(table) for table in tables}
        manifest = Manifest(
            kind="backup",
            schema=state.current,
            created_at=now.isoformat(),
            written_by=written_by,
            subject=database.place,
            sequences=sequences(connection, tables),
        )
        return dump_tables(connection, rows, path, manifest, progress)


def restore_backup(
    database: Database, path: Path, *, force: bool, progress: Progress, is_checked: bool = False
) -> Manifest:
    """Fill a database with a backup and bring it to the schema of this version.

    A database that holds anything is only replaced with `force`. The restore is one transaction:
    if anything goes wrong, the database stays as it was. Jobs that were waiting in the backup
    count as waiting from now on, so that they do not look overdue. With `is_checked` every row is
    read back before the commit and compared with the backup by digest.

    Raises `InvalidInput` for a file that is not a complete backup, `Conflict` for a database that
    holds something or returns different rows, `SchemaMismatch` for a backup or a database of a
    newer schema, and `StorageFull` when there is no room.
    """
    with opened_archive(path, "backup") as archive:
        require_known_schema(path, archive.manifest.schema)
        if database.path is not None and database.path.parent.is_dir():
            require_local(database.path)
            require_writable(database.path)
            require_disk_space(database.path.parent, archive.manifest)
        with database.migrate() as connection:
            schema.wait_for_other_upgrades(connection)
            lift_time_limits(connection)
            schema.refuse_what_is_not_ours(database, connection, schema.state_of(connection))
            _clear(database, connection, force=force)
            schema.migrate_to(connection, archive.manifest.schema)
            load_archive(connection, archive, progress)
            if is_checked:
                tables = reflected_tables(connection)
                require_same_rows(connection, tables, archive, progress)
            schema.migrate_to(connection, "head")
            schema.require_intact_references(connection)
            put_up(connection)
            _wait_from_now_on(connection)
        return archive.manifest


def is_empty(database: Database) -> bool:
    """Whether the database holds nothing that a restore would replace."""
    if schema.check(database).current is None:
        return True
    with database.read() as session:
        connection = session.connection()
        return not holds_anything(connection, reflected_tables(connection))


def require_known_schema(path: Path, revision: str) -> None:
    """Raise `SchemaMismatch` for an archive that a newer offdiag wrote."""
    if revision not in offdiag_migrations.revisions():
        raise SchemaMismatch(
            f"{path.name} has schema {revision}, which this version of offdiag "
            f"(up to {offdiag_migrations.head()}) does not know.",
            hint="Install a newer offdiag: pip install --upgrade offdiag",
        )


def _require_complete(database: Database, connection: Connection) -> None:
    """Raise `DatabaseUnavailable` if rows are missing with their table or column.

    A backup of the rest would look complete, and displace one that is.
    """
    missing = [part for part in schema.missing_parts(connection) if not part.startswith("index ")]
    if missing:
        raise DatabaseUnavailable(
            f"{database.place}: its schema is damaged: no {missing[0]}.",
            hint="Restore a backup to a new database.",
        )


def require_intact(session: Session, place: str) -> None:
    """Raise `DatabaseUnavailable` for a damaged SQLite file.

    Rows that an index lost would be left out of an archive, which would look complete.
    """
    problems = integrity_problems(session)
    if problems:
        raise _damaged_database(place, problems[0])


def _damaged_database(place: str, what: str) -> DatabaseUnavailable:
    return DatabaseUnavailable(
        f"{place}: its data are damaged: {what}.",
        hint="Restore a backup to a new database; `offdiag verify` lists the damage.",
    )


def _nothing_to_back_up(database: Database) -> SchemaMismatch:
    return SchemaMismatch(
        f"{database.place} holds nothing that this version of offdiag could back up.",
        hint="`offdiag db check` says what it is.",
    )


def _clear(database: Database, connection: Connection, *, force: bool) -> None:
    tables = reflected_tables(connection)
    if not force and holds_anything(connection, tables):
        raise Conflict(
            f"{database.place} is not empty.",
            field="database",
            hint="Name an empty database, or give --force to replace what it holds.",
        )
    take_down(connection)
    for table in reversed(tables):
        table.drop(connection)
    connection.execute(text(f"DROP TABLE IF EXISTS {BOOKKEEPING}"))


def _wait_from_now_on(connection: Connection) -> None:
    now = database_now()
    for state, moment in (("todo", WorkRow.due), ("doing", WorkRow.lease_until)):
        connection.execute(
            update(WorkRow).where(WorkRow.state == state, moment < now).values({moment: now})
        )
