"""What all tables share: constraint names, column types and kinds of checks.

The column types behave the same on SQLite and PostgreSQL.

Rows have no relationships. Each statement states the joins it needs; nothing is loaded implicitly,
and no row leaves the store.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    Text,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import JSONB, TEXT
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Session
from sqlalchemy.types import TypeDecorator

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class UtcDateTime(TypeDecorator[datetime]):
    """A timestamp with a time zone on the way in, and in UTC on the way out.

    SQLite has no time zones, so the stored text is UTC and sorts by time. PostgreSQL answers in
    the zone of the session, which offdiag does not control, so the answer is converted.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Raises `ValueError` for a naive datetime, which does not identify an instant."""
        if value is None:
            return None
        if value.utcoffset() is None:
            raise ValueError(f"{value!r} has no time zone; use datetime.now(UTC) or attach one.")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class FiniteDouble(TypeDecorator[float]):
    """A finite number. SQLite's driver would silently store NULL for NaN."""

    impl = Double()
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> float | None:  # noqa: ARG002
        """Raises `ValueError` for NaN and infinities: undefined values have a reason instead."""
        if value is not None and not math.isfinite(value):
            raise ValueError(f"{value} is not a finite number.")
        return value


# Sorted and compared by code point, as SQLite does by default: the order on a page must depend
# neither on the kind of database nor on the language its server was installed in.
PlainText = Text().with_variant(TEXT(collation="C"), "postgresql")

# Only a column declared INTEGER becomes SQLite's rowid; PostgreSQL needs the wide type.
Identifier = BigInteger().with_variant(Integer(), "sqlite")

# A missing document is SQL NULL, so that IS NULL means the same on both databases.
Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


# Every constraint has a name that a later migration can drop it by, on both databases.
NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

# Ids are never reused, not even after the newest row was deleted: a notification or a cached page
# with an old id must not find another row. PostgreSQL guarantees that by itself.
IDS_ARE_NEVER_REUSED = {"sqlite_autoincrement": True}

LARGEST_INTEGER = 2**31 - 1
LARGEST_BIG_INTEGER = 2**63 - 1


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING_CONVENTION)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: PlainText,
        float: FiniteDouble(),
        bytes: LargeBinary(),
        datetime: UtcDateTime(),
        dict[str, Any]: Json,
        list[str]: Json,
        list[int]: Json,
        list[dict[str, Any]]: Json,
    }


def one_of(column: str, words: Iterable[str]) -> CheckConstraint:
    """A check that the column holds one of a few words."""
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def whole_number(
    column: str, *, at_least: int = 0, at_most: int = LARGEST_INTEGER
) -> CheckConstraint:
    """A check that the column holds a number between two bounds.

    PostgreSQL knows the upper one from the type. SQLite stores anything in any column; there the
    bound refuses what PostgreSQL would refuse, including text, which sorts after numbers.
    """
    return CheckConstraint(f"{column} BETWEEN {at_least} AND {at_most}", name=column)


def finite(column: str) -> CheckConstraint:
    """A check that the column holds NULL or a number within 1e300: no NaN, infinity or text.

    To PostgreSQL NaN is a number larger than all others.
    """
    low, high = (f"CAST('{bound}' AS DOUBLE PRECISION)" for bound in ("-1e300", "1e300"))
    return CheckConstraint(f"{column} BETWEEN {low} AND {high}", name=column)


def insert_into(session: Session, row: type[Base]) -> postgresql.Insert | sqlite.Insert:
    """An INSERT with ON CONFLICT, which SQLAlchemy offers separately for each database."""
    make = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    return make(row)


def lock_row(session: Session, kind: type[Base], id_: int) -> None:
    """Let other transactions that lock this row, by its id, wait until this one ends."""
    ids = kind.__table__.c.id
    session.execute(select(ids).where(ids == id_).with_for_update(key_share=True))


Record = TypeVar("Record", bound="DataclassInstance")


def record_as(kind: type[Record], row: object, **others: object) -> Record:
    """A record that can leave the store: fields from columns of the same name and from `others`.

    Raises `AttributeError` if the row has no such column, even for a field with a default.
    """
    names = _names(kind)
    return kind(**{name: getattr(row, name) for name in names if name not in others}, **others)


@cache
def _names(kind: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
