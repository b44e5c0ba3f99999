"""The relations of a registry, read a few runs at a time in short transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import pyarrow as pa

from offdiag.store.database import Database
from offdiag.store.relations.columns import (
    RunScope,
    ScopedRun,
    Wanted,
    possible_runs,
    runs_in_scope,
)
from offdiag.store.relations.predictions import (
    Progress,
    TruthSide,
    predicted_run,
    prediction_rows,
    truth_side,
)
from offdiag.store.relations.rows import cell_rows, flag_rows, metric_rows, run_rows
from offdiag.store.session import Session

_RUNS_AT_ONCE = 50

_ROWS: dict[str, Callable[[Session, Sequence[str], Wanted], pa.Table]] = {
    "runs": run_rows,
    "metrics": metric_rows,
    "cells": cell_rows,
    "flags": flag_rows,
}


def read_relation(
    database: Database, relation: str, scope: RunScope, wanted: Wanted
) -> Iterator[pa.Table]:
    """What is wanted of a relation, table by table as they come from the database."""
    with database.read() as session:
        runs = possible_runs(runs_in_scope(session, scope), wanted)
    if relation == "predictions":
        yield from _predictions(database, runs, wanted)
    else:
        yield from _of_runs(database, _ROWS[relation], runs, wanted)


def _of_runs(
    database: Database,
    rows: Callable[[Session, Sequence[str], Wanted], pa.Table],
    runs: Sequence[ScopedRun],
    wanted: Wanted,
) -> Iterator[pa.Table]:
    remaining = iter(runs)
    while some := [run.id for run in islice(remaining, _RUNS_AT_ONCE)]:
        with database.read() as session:
            table = rows(session, some, wanted)
        yield table


def _predictions(
    database: Database, runs: Sequence[ScopedRun], wanted: Wanted
) -> Iterator[pa.Table]:
    truth: TruthSide | None = None
    for place in runs:
        with database.read() as session:
            run = predicted_run(session, place.id)
            if run is None:
                continue
            # Runs on one dataset follow each other, and mostly have the same truth.
            if truth is None or truth.version.id != run.truth_id:
                truth = None  # Two would not have to fit into memory.
                truth = truth_side(session, run.truth_id, wanted)
        after: Progress | None = Progress()
        while after is not None:
            with database.read() as session:
                tables, after = prediction_rows(
                    session, run, truth, place=place, wanted=wanted, after=after
                )
            yield from tables
