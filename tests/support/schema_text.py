"""The schema a database really has, as text that can be compared and kept in git."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlalchemy import Connection, MetaData, text
from sqlalchemy.schema import CreateIndex, CreateTable

_BOOKKEEPING = "alembic_version"
_CATALOG = """
    SELECT concat_ws(' ', attrelid::regclass, 'column',
                     row_number() OVER (PARTITION BY attrelid ORDER BY attnum), attname,
                     format_type(atttypid, atttypmod), attnotnull, attstorage,
                     pg_get_expr(adbin, adrelid))
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0
            AND NOT attisdropped
    UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT concat_ws(' ', indrelid::regclass, pg_get_indexdef(indexrelid))
        FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
        WHERE relnamespace = 'public'::regnamespace
"""
_STORAGE = {"p": "PLAIN", "e": "EXTERNAL", "m": "MAIN", "x": "EXTENDED"}


def schema_text(connection: Connection) -> str:
    """All statements that would make the schema, sorted by what they make."""
    return (
        "".join(f"{statement};\n\n" for statement in _statements(connection)).rstrip("\n") + "\n"
    )


def catalog_text(connection: Connection) -> str:
    """What PostgreSQL itself says of all tables: no statements, but a hundred times as fast."""
    found = connection.scalars(text(_CATALOG)).all()
    return "\n".join(sorted(line for line in found if not line.startswith(_BOOKKEEPING)))


def schema_parts(connection: Connection) -> dict[str, list[str]]:
    """Head of each statement with the sorted elements of its body.

    Tables are equal when they have the same columns and constraints, in whatever order they
    were added. Storage of columns is left out: only migrations know it.
    """
    parts: dict[str, list[str]] = {}
    for statement in _statements(connection):
        if "SET STORAGE" not in statement:
            head, elements = _split(statement)
            parts[head] = sorted(elements)
    return parts


def _statements(connection: Connection) -> Iterator[str]:
    if connection.dialect.name == "sqlite":
        yield from _sqlite_statements(connection)
    else:
        yield from _postgres_statements(connection)


def _sqlite_statements(connection: Connection) -> Iterator[str]:
    found = connection.execute(
        text(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name <> :bookkeeping "
            "AND name NOT LIKE 'sqlite_%' ORDER BY tbl_name, type DESC, name"
        ),
        {"bookkeeping": _BOOKKEEPING},
    )
    for (sql,) in found:
        yield _tidied(sql)


def _postgres_statements(connection: Connection) -> Iterator[str]:
    metadata = MetaData()
    metadata.reflect(connection)
    for name in sorted(metadata.tables):
        if name == _BOOKKEEPING:
            continue
        table = metadata.tables[name]
        yield _tidied(str(CreateTable(table).compile(dialect=connection.dialect)))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield _tidied(str(CreateIndex(index).compile(dialect=connection.dialect)))
        stored = connection.execute(
            text(
                "SELECT attname, attstorage::text FROM pg_attribute JOIN pg_type "
                "ON pg_type.oid = atttypid WHERE attrelid = CAST(:name AS regclass) "
                "AND attnum > 0 AND NOT attisdropped AND attstorage <> typstorage ORDER BY attnum"
            ),
            {"name": name},
        )
        for column, storage in stored:
            yield f"ALTER TABLE {name} ALTER COLUMN {column} SET STORAGE {_STORAGE[storage]}"


def _tidied(sql: str) -> str:
    # SQLite puts a name in quotes when it renames a table, as altering one ends with.
    sql = re.sub(r'^CREATE TABLE "(\w+)"', r"CREATE TABLE \1", sql.strip())
    lines = _constraints_sorted([line.strip() for line in sql.splitlines() if line.strip()])
    return "\n".join(
        f"    {line}" if not line.startswith(("CREATE", ")", "WITHOUT")) else line
        for line in lines
    )


def _constraints_sorted(lines: list[str]) -> list[str]:
    """Constraints by name: altering a table on SQLite puts them back in any order."""
    places = [place for place, line in enumerate(lines) if line.startswith("CONSTRAINT ")]
    if not places:
        return lines
    constraints = sorted(lines[place].rstrip(",") for place in places)
    ended = [f"{constraint}," for constraint in constraints[:-1]] + constraints[-1:]
    return [*lines[: places[0]], *ended, *lines[places[-1] + 1 :]]


def _split(statement: str) -> tuple[str, list[str]]:
    """`CREATE TABLE t (a, b(c, d)) REST` as ("CREATE TABLE t () REST", ["a", "b(c, d)"])."""
    flat = re.sub(r"\s+", " ", statement)
    if not flat.startswith("CREATE TABLE"):
        return flat, []
    start, stop = flat.index("("), flat.rindex(")")
    elements, depth, element = [], 0, ""
    for character in flat[start + 1 : stop]:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            elements.append(element.strip())
            element = ""
        else:
            element += character
    return f"{flat[: start + 1]}{flat[stop:]}", [*elements, element.strip()]
