"""Single entries of documents kept with a row, alike on both databases.

A path into a document would need quoting rules that differ between databases. PostgreSQL has an
operator that takes any key as it is, and on SQLite rows of (key, value) compare it so.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Double,
    Integer,
    TableValuedAlias,
    Text,
    case,
    cast,
    func,
    literal,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import InstrumentedAttribute

Document = InstrumentedAttribute[dict[str, Any]]

_SQLITE_WORDS = {word: word for word in ("true", "false", "null")}


def entry_text(document: Document, name: str, dialect: str) -> ColumnElement[str]:
    """The entry `name` as text; NULL where there is none."""
    if dialect == "postgresql":
        is_null = case((func.jsonb_typeof(_at(document, name)) == "null", "null"))
        return func.coalesce(_at(document, name, as_text=True), is_null)
    entry = func.json_each(document).table_valued("key", "value", "type", name="entry")
    text = case(_SQLITE_WORDS, value=entry.c.type, else_=cast(entry.c.value, Text))
    return _of(entry, text, name, document)


def entry_number(document: Document, name: str, dialect: str) -> ColumnElement[float]:
    """The entry `name` where it is a number; NULL where it is not, or missing."""
    if dialect == "postgresql":
        is_number = func.jsonb_typeof(_at(document, name)) == "number"
        return case((is_number, cast(_at(document, name, as_text=True), Double)))
    entry = func.json_each(document).table_valued("key", "value", "type", name="entry")
    is_number = entry.c.type.in_(("integer", "real"))
    return _of(entry, case((is_number, cast(entry.c.value, Double))), name, document)


def place_of(
    names: InstrumentedAttribute[list[str]], name: str, dialect: str
) -> ColumnElement[int]:
    """Where a name stands in a list of names, counted from 0; NULL where it does not."""
    if dialect == "postgresql":
        entry = func.jsonb_array_elements_text(names).table_valued(
            "value", with_ordinality="ordinality", name="entry"
        )
        place = cast(entry.c.ordinality, Integer) - 1
    else:
        entry = func.json_each(names).table_valued("key", "value", name="entry")
        place = cast(entry.c.key, Integer)
    found = select(place).select_from(entry).where(entry.c.value == name)
    return found.correlate(names.class_).scalar_subquery()


def _at(document: Document, name: str, *, as_text: bool = False) -> ColumnElement[Any]:
    # The operator takes a name as it is, which is no path and needs no quoting.
    operator, kind = ("->>", Text()) if as_text else ("->", JSONB())
    return document.expression.op(operator, return_type=kind)(literal(name, Text))


def _of(
    entry: TableValuedAlias, value: ColumnElement[Any], name: str, document: Document
) -> ColumnElement[Any]:
    found = select(value).select_from(entry).where(entry.c.key == name)
    return found.correlate(document.class_).scalar_subquery()
