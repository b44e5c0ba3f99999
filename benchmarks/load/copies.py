"""Filling a registry with runs made of those that were logged: same results, other predictions.

A worker needs 50 ms and more for the drawn intervals of a run, so evaluating 100,000 of them
takes hours. What it computes depends on the matrix alone; runs whose answers were only dealt
anew among cases of the same class have the matrix of their original, and so its results. They
are written as the product writes them, and `offdiag verify` computes them again like any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, insert, select

from load.originals import Originals, run_name
from load.shuffle import Codes, Shuffler
from load.tables import COPY, copied_rows, table
from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import new_run_id
from offdiag.services.evaluation.inputs import input_digest
from offdiag.services.ingest.batch import Batch, chunked
from offdiag.store import codec, datasets, runs, truths
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, PredictionChunkRow, RunRow
from offdiag.store.models.base import Base
from offdiag.store.runs import RunRecord
from offdiag.store.truths import TruthRecord

_ROWS_AT_ONCE = 500
_LOGGED_WITHIN = timedelta(days=365)


@dataclass(frozen=True)
class Original:
    """A run with everything that its copies begin with."""

    run: RunRecord
    truth: TruthRecord
    labels: LabelSet
    predicted: Codes
    run_row: dict[str, Any]
    evaluation_row: dict[str, Any]
    chunk_rows: tuple[dict[str, Any], ...]


def read_originals(database: Database, originals: Originals) -> list[Original]:
    """The logged runs of a dataset as they lie in the database."""
    with database.read() as session:
        found = []
        connection = session.connection()
        for run_id in originals.run_ids:
            run = runs.get_run(session, run_id)
            assert run.truth_version_id is not None
            chunk_rows = _rows(connection, PredictionChunkRow, run_id)
            parts = [codec.decode_codes(row["codes"], row["dtype"]) for row in chunk_rows]
            found.append(
                Original(
                    run,
                    truths.get_truth(session, run.truth_version_id),
                    datasets.get_dataset(session, run.dataset_id).labels,
                    np.concatenate(parts),
                    _rows(connection, RunRow, run_id, key="id")[0],
                    _rows(connection, EvaluationRow, run_id)[0],
                    tuple(chunk_rows),
                )
            )
        return found


def copy_runs(
    connection: Connection, originals: Originals, found: Sequence[Original], *, now: datetime
) -> int:
    """Make all further runs of a dataset in one transaction; returns how many."""
    dataset = originals.dataset
    rng = np.random.default_rng([12, dataset.place])
    shuffler = Shuffler(originals.truth.astype(found[0].predicted.dtype))
    first = 1 + (connection.scalar(select(func.max(EvaluationRow.id))) or 0)
    numbers = range(len(found), dataset.n_runs)
    for start in range(0, len(numbers), _ROWS_AT_ONCE):
        some = numbers[start : start + _ROWS_AT_ONCE]
        rows = _Rows()
        for number in some:
            original = found[number % len(found)]
            at = now - _LOGGED_WITHIN * float(rng.random())
            dealt = shuffler.deal(original.predicted, rng)
            new = _New(
                run_name(dataset, number), first + number, at, Batch(dealt, shuffler.actual)
            )
            rows.add(original, new)
        rows.write(connection)
    copied_rows(connection)
    return len(numbers)


@dataclass(frozen=True)
class _New:
    """What is a new run's own."""

    name: str
    evaluation_id: int
    at: datetime
    batch: Batch


class _Rows:
    """Rows of a few new runs, by table."""

    def __init__(self) -> None:
        self._runs: list[dict[str, Any]] = []
        self._evaluations: list[dict[str, Any]] = []
        self._chunks: list[dict[str, Any]] = []
        self._copies: list[dict[str, Any]] = []

    def add(self, original: Original, new: _New) -> None:
        """A run of its own."""
        run_id = new_run_id()
        digest = new.batch.digest(original.labels)
        content = replace(original.run, id=run_id, content_digest=digest)
        self._runs.append(
            original.run_row
            | {
                "id": run_id,
                "name": new.name,
                "content_digest": digest,
                "created_at": new.at,
                "finished_at": new.at,
            }
        )
        self._evaluations.append(
            original.evaluation_row
            | {
                "id": new.evaluation_id,
                "run_id": run_id,
                "input_digest": input_digest(content, original.truth),
                "computed_at": new.at,
            }
        )
        for row, part in zip(original.chunk_rows, chunked(new.batch), strict=True):
            codes = codec.encode_codes(part.predicted)
            sha256 = part.digest(original.labels)
            self._chunks.append(row | {"run_id": run_id, "codes": codes, "sha256": sha256})
        self._copies.append(
            {
                "old_run": original.run.id,
                "new_run": run_id,
                "old_evaluation": original.evaluation_row["id"],
                "new_evaluation": new.evaluation_id,
                "at": new.at,
            }
        )

    def write(self, connection: Connection) -> None:
        """Insert them, those first that others refer to."""
        connection.execute(insert(table(RunRow)), self._runs)
        connection.execute(insert(table(EvaluationRow)), self._evaluations)
        connection.execute(insert(table(PredictionChunkRow)), self._chunks)
        connection.execute(insert(COPY), self._copies)


def _rows(
    connection: Connection, model: type[Base], run_id: str, *, key: str = "run_id"
) -> list[dict[str, Any]]:
    rows = table(model)
    found = connection.execute(
        select(rows).where(rows.c[key] == run_id).order_by(*rows.primary_key)
    )
    return [dict(row) for row in found.mappings()]
