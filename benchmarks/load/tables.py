"""What hangs on an evaluation, copied within the database; and the rows around it.

The results of a run are some hundred rows. Copying them by one statement for each table and
dataset, without the one large index of values, is what makes a seed a matter of minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    MetaData,
    Table,
    delete,
    func,
    insert,
    select,
    text,
)
from sqlalchemy.schema import CreateIndex, DropIndex

from offdiag.store.database import Database
from offdiag.store.models import (
    ClassValuesRow,
    ConfusionMatrixRow,
    EvaluationRow,
    FlagEventRow,
    FlagRow,
    MetricValueRow,
)
from offdiag.store.models.base import Base, PlainText, UtcDateTime

COPY = Table(
    "load_copy",
    MetaData(),
    Column("old_run", PlainText),
    Column("new_run", PlainText),
    Column("old_evaluation", Integer),
    Column("new_evaluation", Integer),
    Column("at", UtcDateTime()),
    prefixes=["TEMPORARY"],
)
"""Which run is made of which, within one dataset."""

_OF_EVALUATION = (ConfusionMatrixRow, ClassValuesRow, MetricValueRow)


def table(model: type[Base]) -> Table:
    """The table of a model."""
    found = model.__table__
    assert isinstance(found, Table)
    return found


@contextmanager
def without_index_of_values(database: Database) -> Iterator[None]:
    """Do without the one large index while the block runs, and make it at the end."""
    indexes = sorted(table(MetricValueRow).indexes, key=lambda index: str(index.name))
    with database.migrate() as connection:
        for index in indexes:
            connection.execute(DropIndex(index))
    yield
    with unhurried(database) as connection:
        for index in indexes:
            connection.execute(CreateIndex(index))


@contextmanager
def copying(database: Database) -> Iterator[Connection]:
    """A transaction in which there is a table of copies."""
    with unhurried(database) as connection:
        COPY.create(connection)
        yield connection
        COPY.drop(connection)


@contextmanager
def unhurried(database: Database) -> Iterator[Connection]:
    """A transaction that may take as long as it needs."""
    with database.migrate() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            connection.execute(text("SET LOCAL maintenance_work_mem = '512MB'"))
        yield connection


def copied_rows(connection: Connection) -> None:
    """Copy the results and flags of the runs in `COPY`, and empty it."""
    for model in _OF_EVALUATION:
        rows = table(model)
        _copy(
            connection,
            rows,
            rows.join(COPY, rows.c.evaluation_id == COPY.c.old_evaluation),
            {"evaluation_id": COPY.c.new_evaluation},
        )
    flag, event = table(FlagRow), table(FlagEventRow)
    _copy(
        connection,
        flag,
        flag.join(COPY, flag.c.run_id == COPY.c.old_run),
        {
            "id": None,
            "run_id": COPY.c.new_run,
            "evaluation_id": COPY.c.new_evaluation,
            "first_seen": COPY.c.at,
            "last_seen": COPY.c.at,
        },
    )
    copied = flag.alias("copied")
    same = (
        (copied.c.run_id == COPY.c.new_run)
        & (copied.c.rule == flag.c.rule)
        & (copied.c.class_label == flag.c.class_label)
    )
    _copy(
        connection,
        event,
        event.join(flag, event.c.flag_id == flag.c.id)
        .join(COPY, flag.c.run_id == COPY.c.old_run)
        .join(copied, same),
        {"id": None, "flag_id": copied.c.id, "at": COPY.c.at},
    )
    connection.execute(delete(COPY))


def count_on_from(connection: Connection) -> None:
    """Let PostgreSQL count evaluations on after those that were inserted with their ids."""
    if connection.dialect.name == "postgresql":
        last = select(func.max(EvaluationRow.id)).scalar_subquery()
        sequence = func.pg_get_serial_sequence("evaluation", "id")
        connection.execute(select(func.setval(sequence, last)))


def _copy(
    connection: Connection,
    rows: Table,
    source: FromClause,
    changed: Mapping[str, ColumnElement[Any] | None],
) -> None:
    """Insert rows of a table anew; `changed` columns get other values, or those of the table."""
    kept = [column for column in rows.columns if changed.get(column.name, "") is not None]
    values = [column if (new := changed.get(column.name)) is None else new for column in kept]
    chosen = select(*values).select_from(source).order_by(COPY.c.new_evaluation)
    connection.execute(insert(rows).from_select([column.name for column in kept], chosen))
