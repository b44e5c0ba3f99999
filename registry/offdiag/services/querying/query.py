"""Asking the registry one question in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

import pyarrow as pa

from offdiag.errors import InvalidInput, NotFound
from offdiag.services.deadline import calls_after
from offdiag.services.querying.engine import (
    engine_over,
    refused,
    require_one_question,
)
from offdiag.services.querying.reading import read_relation
from offdiag.services.querying.relation import Relation
from offdiag.store.database import Database
from offdiag.store.relations.columns import RELATIONS, RunScope, runs_in_scope, schema_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ROWS_AT_ONCE = 65_536


@dataclass(frozen=True, eq=False)
class Answer:
    """Columns of an answer, and its rows as they are computed; they pass by once."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


@contextmanager
def asked(database: Database, text: str, scope: RunScope, *, timeout_s: float) -> Iterator[Answer]:
    """The answer to one question about the runs in a scope, for as long as the block takes.

    Of the registry only those relations and columns are read that the question names. Nothing
    can be changed by it. Raises `InvalidInput` for what is no question or cannot be answered in
    `timeout_s` seconds, `NotFound` for a scope that names what there is not; both may come while
    rows are read.
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
                yield Answer(reader.schema, _rows(reader, relations, is_over))
            except InvalidInput as error:
                raise _too_slow(timeout_s) if is_over.is_set() else error from error


def _require_scope(database: Database, scope: RunScope) -> None:
    """A name with a mistake in it would otherwise answer with nothing."""
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
            # An interruption between two batches is lost on the engine.
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
    """The error that reading the registry ended with, else what DuckDB says."""
    failures = [relation.failure for relation in relations.values() if relation.failure]
    return failures[0] if failures else refused(error)
