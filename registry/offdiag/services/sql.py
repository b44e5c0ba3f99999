"""SQL queries over runs, answered by DuckDB on relations that are read from the registry.

DuckDB is confined: it computes, and can access neither files nor the network. The relations are
read a few runs at a time in short transactions.

DuckDB passes the columns a scan needs to an Arrow dataset, with the row conditions that Arrow
understands, so what was not requested is never read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds

from offdiag.errors import InvalidInput, NotFound
from offdiag.inputs.scratch import scratch_folder
from offdiag.services.delivery.connections import calls_after
from offdiag.store.database import Database, Session
from offdiag.store.relations.columns import (
    RELATIONS,
    RequestedColumns,
    RunScope,
    ScopedRun,
    possible_runs,
    runs_in_scope,
    schema_of,
)
from offdiag.store.relations.predictions import (
    Progress,
    TruthSide,
    predicted_run,
    prediction_rows,
    truth_side,
)
from offdiag.store.relations.rows import cell_rows, flag_rows, metric_rows, run_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Relation(ds.Dataset):  # type: ignore[misc]  # The library ships no types.
    """Rows that `read` yields as tables, read again for every scan.

    An error that ends a scan is kept in `failure`: DuckDB passes on only its text.
    """

    def __init__(
        self, schema: pa.Schema, read: Callable[[RequestedColumns], Iterator[pa.Table]]
    ) -> None:
        # Only Arrow can construct the base class, and everything used from it is defined below.
        self._schema = schema
        self._read = read
        self.failure: Exception | None = None

    @property
    def schema(self) -> pa.Schema:
        """The schema with all columns."""
        return self._schema

    def scanner(
        self,
        columns: Sequence[str] | None = None,
        filter: ds.Expression | None = None,  # noqa: A002 - the name is Arrow's
        **_options: object,
    ) -> Scan:
        """One scan: some of the columns, for the rows that meet a condition."""
        shown = self._schema.names if columns is None else list(columns)
        wanted = RequestedColumns.of(self._schema, columns, filter)
        schema = pa.schema([self._schema.field(name) for name in shown])
        return Scan(pa.RecordBatchReader.from_batches(schema, self._batches(shown, wanted)))

    def _batches(self, shown: Sequence[str], wanted: RequestedColumns) -> Iterator[pa.RecordBatch]:
        try:
            for table in self._read(wanted):
                found = table if wanted.condition is None else table.filter(wanted.condition)
                yield from found.select(shown).to_batches()
        except Exception as error:
            self.failure = error
            raise


@dataclass(frozen=True, eq=False)
class Scan:
    """One pass over a relation, from its first row until DuckDB has seen enough."""

    reader: pa.RecordBatchReader

    def to_reader(self) -> pa.RecordBatchReader:
        """A reader by batches; rows that are no longer needed are not read."""
        return self.reader


_BEFORE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}


@contextmanager
def engine_over(relations: Mapping[str, Relation]) -> Iterator[DuckDBPyConnection]:
    """A DuckDB connection with these relations and nothing else, closed after the block.

    What does not fit into memory goes to a temporary folder of its own. Raises `StorageFull` if
    the folder cannot be made.
    """
    import duckdb

    with (
        scratch_folder("sql") as folder,
        closing(
            duckdb.connect(":memory:", config={**_BEFORE, "temp_directory": str(folder)})
        ) as engine,
    ):
        for name, relation in relations.items():
            engine.register(name, relation)
        engine.execute("SET TimeZone = 'UTC'")
        # In this order, and last: no SQL statement can undo it from here on.
        engine.execute("SET enable_external_access = false")
        engine.execute("SET lock_configuration = true")
        yield engine


def require_one_question(engine: DuckDBPyConnection, text: str) -> None:
    """Raise `InvalidInput` unless the text is one statement that only reads."""
    from duckdb import Error, StatementType

    try:
        statements = engine.extract_statements(text)
    except Error as error:
        raise refused(error) from error
    reading = (StatementType.SELECT, StatementType.EXPLAIN)
    if len(statements) != 1 or statements[0].type not in reading:
        raise InvalidInput(
            f"these are {len(statements)} statements."
            if len(statements) != 1
            else f"{statements[0].type.name} is not a query.",
            field="query",
            hint="Write one query: SELECT, DESCRIBE, SUMMARIZE or EXPLAIN.",
        )


_SYSTEM_TABLE = re.compile(r' Did you mean "(?:pg_|duckdb_|sqlite_|information_schema)[^"]*"\?')
"""What DuckDB proposes in place of an unknown relation: a table of its own, of no use here."""


def refused(error: Exception) -> InvalidInput:
    """The error for what DuckDB says about a query, without the copy of the query below it."""
    text, _, _ = str(error).partition("\n\nLINE ")
    sentence = _SYSTEM_TABLE.sub("", " ".join(text.split()))
    return InvalidInput(
        sentence if sentence.endswith((".", "?", "!")) else f"{sentence}.",
        field="query",
        hint="SHOW TABLES and DESCRIBE runs show what there is.",
    )


_RUNS_AT_ONCE = 50

_ROWS: dict[str, Callable[[Session, Sequence[str], RequestedColumns], pa.Table]] = {
    "runs": run_rows,
    "metrics": metric_rows,
    "cells": cell_rows,
    "flags": flag_rows,
}


def read_relation(
    database: Database, relation: str, scope: RunScope, wanted: RequestedColumns
) -> Iterator[pa.Table]:
    """The requested columns and rows of a relation, in tables as they come from the database."""
    with database.read() as session:
        runs = possible_runs(runs_in_scope(session, scope), wanted)
    if relation == "predictions":
        yield from _predictions(database, runs, wanted)
    else:
        yield from _of_runs(database, _ROWS[relation], runs, wanted)


def _of_runs(
    database: Database,
    rows: Callable[[Session, Sequence[str], RequestedColumns], pa.Table],
    runs: Sequence[ScopedRun],
    wanted: RequestedColumns,
) -> Iterator[pa.Table]:
    remaining = iter(runs)
    while some := [run.id for run in islice(remaining, _RUNS_AT_ONCE)]:
        with database.read() as session:
            table = rows(session, some, wanted)
        yield table


def _predictions(
    database: Database, runs: Sequence[ScopedRun], wanted: RequestedColumns
) -> Iterator[pa.Table]:
    truth: TruthSide | None = None
    for place in runs:
        with database.read() as session:
            run = predicted_run(session, place.id)
            if run is None:
                continue
            # Runs on the same dataset follow each other, and usually share the same truth.
            if truth is None or truth.version.id != run.truth_id:
                truth = None  # So that two need not fit into memory at once.
                truth = truth_side(session, run.truth_id, wanted)
        after: Progress | None = Progress()
        while after is not None:
            with database.read() as session:
                tables, after = prediction_rows(
                    session, run, truth, place=place, wanted=wanted, after=after
                )
            yield from tables


_ROWS_AT_ONCE = 65_536


@dataclass(frozen=True, eq=False)
class QueryResult:
    """The columns of an answer, and its rows as they are computed; they can be read only once."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


@contextmanager
def run_query(
    database: Database, text: str, scope: RunScope, *, timeout_s: float
) -> Iterator[QueryResult]:
    """The result of one query over the runs in a scope, available while the block runs.

    Only the relations and columns that the query names are read from the registry. The query
    cannot change anything. Raises `InvalidInput` for what is not a query or takes longer than
    `timeout_s` seconds, and `NotFound` for a scope that names something unknown; both may be
    raised while rows are read.
    """
    _require_scope(database, scope)
    relations = {
        name: Relation(schema_of(name), partial(read_relation, database, name, scope))
        for name in RELATIONS
    }
    with engine_over(relations) as engine:
        require_one_question(engine, text)
        with calls_after(timeout_s, engine.interrupt) as is_over:
            try:
                reader = _started(engine, text, relations)
                yield QueryResult(reader.schema, _rows(reader, relations, is_over))
            except InvalidInput as error:
                raise _too_slow(timeout_s) if is_over.is_set() else error from error


def _require_scope(database: Database, scope: RunScope) -> None:
    """Raise `NotFound` for unknown names: with a typo the answer would simply be empty."""
    with database.read() as session:
        for kind, names in (
            ("run", scope.runs),
            ("dataset", scope.datasets),
            ("project", scope.projects),
        ):
            for name in names:
                one = RunScope(**{f"{kind}s": (name,)})
                if not runs_in_scope(session, one):
                    raise NotFound(
                        f"there is no run {name!r}."
                        if kind == "run"
                        else f"no run is in the {kind} {name!r}.",
                        field=f"--{kind}",
                        hint="`offdiag runs list` shows what there is.",
                    )


def _started(
    engine: DuckDBPyConnection, text: str, relations: Mapping[str, Relation]
) -> pa.RecordBatchReader:
    from duckdb import Error

    try:
        return engine.sql(text).to_arrow_reader(_ROWS_AT_ONCE)
    except Error as error:
        raise _cause(error, relations) from error


def _rows(
    reader: pa.RecordBatchReader, relations: Mapping[str, Relation], is_over: Event
) -> Iterator[pa.RecordBatch]:
    from duckdb import Error, InterruptException

    try:
        for batch in reader:
            yield batch
            # DuckDB loses an interruption that comes between two batches.
            if is_over.is_set():
                raise InterruptException
    except (Error, pa.ArrowException, OSError) as error:
        raise _cause(error, relations) from error


def _too_slow(timeout_s: float) -> InvalidInput:
    return InvalidInput(
        f"this took longer than {timeout_s:g} s.",
        field="query",
        hint="Ask about fewer runs with --run, --dataset or --project, or allow more: --timeout.",
    )


def _cause(error: Exception, relations: Mapping[str, Relation]) -> Exception:
    """The error with which reading the registry ended, or else what DuckDB says."""
    failures = [relation.failure for relation in relations.values() if relation.failure]
    return failures[0] if failures else refused(error)
