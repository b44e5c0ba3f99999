"""What all tables share: names of constraints, types of columns, kinds of checks.

Rows have no relationships. A statement joins what it needs and says so; nothing is loaded
behind the caller's back, and no row leaves the store.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, LargeBinary, MetaData
from sqlalchemy.orm import DeclarativeBase

from offdiag.store.types import FiniteDouble, Json, PlainText, UtcDateTime

# Every constraint has a name that a later migration can drop it by, on both databases.
NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

# Ids are never given twice, also not after the newest row was deleted: a bell or a cached page
# that still names an old id must not find something else. PostgreSQL does so by itself.
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
    """The column holds one of a few words."""
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def whole_number(
    column: str, *, at_least: int = 0, at_most: int = LARGEST_INTEGER
) -> CheckConstraint:
    """The column holds a number between two bounds.

    PostgreSQL knows the upper one from the type. SQLite stores anything in any column; there
    the bound refuses what PostgreSQL would refuse, text included, which sorts after numbers.
    """
    return CheckConstraint(f"{column} BETWEEN {at_least} AND {at_most}", name=column)


def finite(column: str) -> CheckConstraint:
    """The column holds a number within 1e300 or nothing: no NaN, no infinity, no text.

    To PostgreSQL NaN is a number larger than all others.
    """
    low, high = (f"CAST('{bound}' AS DOUBLE PRECISION)" for bound in ("-1e300", "1e300"))
    return CheckConstraint(f"{column} BETWEEN {low} AND {high}", name=column)
