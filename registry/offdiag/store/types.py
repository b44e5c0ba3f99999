"""Column types that behave the same on SQLite and PostgreSQL."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from sqlalchemy import JSON, BigInteger, DateTime, Double, Integer, Text
from sqlalchemy.dialects.postgresql import JSONB, TEXT
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """An instant: aware on the way in, aware and in UTC on the way out.

    SQLite has no zone, so the text it keeps is UTC and sorts by time. PostgreSQL answers in the
    zone of the session, which is not ours to choose, so the answer is converted.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Raises `ValueError` for a naive datetime: nobody can know which instant it means."""
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


# Sorted and compared by code point, as SQLite does by itself: the order of a page must depend
# neither on the kind of database nor on the language its server was installed in.
PlainText = Text().with_variant(TEXT(collation="C"), "postgresql")

# Only a column declared INTEGER becomes SQLite's rowid; PostgreSQL needs the wide type.
Identifier = BigInteger().with_variant(Integer(), "sqlite")

# A missing document is SQL NULL, so that IS NULL means the same on both databases.
Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
