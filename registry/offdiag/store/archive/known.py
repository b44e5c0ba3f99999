"""What the rows of a staged archive are called in the registry that takes them over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import RowMapping, Table, insert, select
from sqlalchemy.orm import Session


@dataclass
class KnownAs:
    """Ids of the source and of the same things in the target, and what was added to it.

    `judged_otherwise` are datasets of the source that the target describes in another way than
    the source did when it evaluated their runs, `renumbered` corrections of truth that have
    another number here: in both cases results of the source are not what would be computed
    here. `paused` are names of schedules.
    """

    projects: dict[int, int] = field(default_factory=dict)
    label_sets: dict[int, int] = field(default_factory=dict)
    costs: dict[int, int] = field(default_factory=dict)
    datasets: dict[int, int] = field(default_factory=dict)
    truths: dict[int, int] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    schedules: dict[int, int] = field(default_factory=dict)
    new_runs: list[str] = field(default_factory=list)
    judged_otherwise: set[int] = field(default_factory=set)
    renumbered: set[int] = field(default_factory=set)
    paused: list[str] = field(default_factory=list)
    added: Counter[str] = field(default_factory=Counter)


def rows_of(session: Session, table: Table, **equal: Any) -> list[RowMapping]:
    """The rows of a table with these values, by key."""
    return list(session.execute(_selected(table, equal)).mappings())


def each_row_of(session: Session, table: Table, **equal: Any) -> Iterator[RowMapping]:
    """As `rows_of`, one at a time: what blobs hold may be larger than memory."""
    keys = select(*table.primary_key.columns).where(*_conditions(table, equal))
    for key in session.execute(keys.order_by(*table.primary_key.columns)).all():
        yield from rows_of(session, table, **key._asdict())


def insert_row(
    target: Session, table: Table, row: RowMapping, known: KnownAs, **changes: Any
) -> int:
    """Insert a row under a new id, which is returned."""
    values = {name: value for name, value in row.items() if name != "id"} | changes
    known.added[table.name] += 1
    return int(target.execute(insert(table).returning(table.c.id), values).scalar_one())


def copy_row(
    target: Session, table: Table, row: RowMapping, known: KnownAs, **changes: Any
) -> None:
    """Insert a row that has no id of its own."""
    known.added[table.name] += 1
    target.execute(insert(table), dict(row) | changes)


def _selected(table: Table, equal: dict[str, Any]) -> Any:
    return select(table).where(*_conditions(table, equal)).order_by(*table.primary_key.columns)


def _conditions(table: Table, equal: dict[str, Any]) -> list[Any]:
    return [table.c[name] == value for name, value in equal.items()]
