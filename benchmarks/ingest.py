"""Logging predictions: from the SDK call to the commit, compared with SQL rows and a plain file.

    python benchmarks/ingest.py [--full]

`--full` adds 1e7 predictions. Every variant writes to a folder of its own on the same disk; the
row variants store (run, index, actual, predicted, score), one row for each prediction.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from harness import Report, ratio, wants_everything
from numpy.typing import NDArray
from sqlalchemy import Column, Double, Integer, MetaData, Table, create_engine

import offdiag
from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import RunFacts
from offdiag.inputs.scores import Scores
from offdiag.services.ingest.batch import Batch, chunked
from offdiag.services.ingest.log_predictions import open_run
from offdiag.store.predictions import insert_chunk
from offdiag.store.schema import open_database

N_CLASSES = 10
LARGE = 1_000_000
"""Goals apply from this size up; below it, fixed costs dominate."""
CHUNK_WRITE = "chunk write, codes and one score"
PLAIN_FILE = "plain file and fsync, the same bytes"
ROW_LIMIT = 1_000_000
"""Row layouts are measured up to this size; beyond it, they only take longer."""


class Sample:
    """Predictions of n cases, 80 % right, errors uniform, in the forms that users have."""

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(1)
        self.n = n
        self.truth: NDArray[np.int64] = rng.integers(0, N_CLASSES, n)
        noise = rng.random(n) < 0.2
        self.predicted = np.where(noise, rng.integers(0, N_CLASSES, n), self.truth)
        self.scores = rng.random((n, N_CLASSES), dtype=np.float32)
        names = np.array([f"class {code}" for code in range(N_CLASSES)])
        self.truth_text, self.predicted_text = names[self.truth], names[self.predicted]


def main() -> None:
    report = Report("ingest", libraries=("numpy", "sqlalchemy", "pyarrow"))
    sizes = [100_000, 1_000_000] + ([10_000_000] if wants_everything(__doc__ or "") else [])
    medians: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            timings = _measure(report, Sample(n), Path(folder))
            medians[n] = timings["log_run, integer labels"].median_s
            per_second = n / medians[n]
            report.fact(f"predictions per second, n = {n:.0e}", round(per_second))
            if n >= LARGE:
                report.goal(
                    f"predictions per second, n = {n:.0e}", measured=per_second, wanted=5_000_000
                )
    exponent = np.polyfit(np.log(list(medians)), np.log(list(medians.values())), 1)[0]
    report.goal("growth exponent", measured=float(exponent), wanted=1.15, at_least=False)
    report.save()


def _measure(report: Report, sample: Sample, folder: Path) -> dict[str, Any]:
    case = f"n = {sample.n:.0e}, {N_CLASSES} classes"
    url = f"sqlite:///{folder / f'{sample.n}.db'}"
    offdiag.log_run(
        y_true=sample.truth, y_pred=sample.predicted, name="first", dataset="ints", url=url
    )
    variants = {
        "log_run, integer labels": lambda: offdiag.log_run(
            y_true=sample.truth, y_pred=sample.predicted, name="run", dataset="ints", url=url
        ),
        "log_run, text labels": lambda: offdiag.log_run(
            y_true=sample.truth_text,
            y_pred=sample.predicted_text,
            name="run",
            dataset="texts",
            url=url,
        ),
        "log_run, scores of all classes": lambda: offdiag.log_run(
            y_true=sample.truth,
            y_pred=sample.predicted,
            y_score=sample.scores,
            name="run",
            dataset="ints",
            url=url,
        ),
        "log_run, truth known": lambda: offdiag.log_run(
            y_pred=sample.predicted, name="run", dataset="ints", url=url
        ),
        CHUNK_WRITE: _chunk_write(url, sample),
        PLAIN_FILE: lambda: _plain_file(sample, folder),
    }
    if sample.n <= ROW_LIMIT:
        variants |= {
            "rows, sqlite3 executemany": lambda: _rows_sqlite3(sample, folder),
            "rows, SQLAlchemy insert": lambda: _rows_sqlalchemy(sample, folder),
        }
    rows = ("rows, sqlite3 executemany", "rows, SQLAlchemy insert")
    timings = report.measure(case, variants, turns=5, fewer_turns=dict.fromkeys(rows, 3))
    if sample.n == ROW_LIMIT:
        for row in rows:
            report.goal(
                f"{row} / log_run, {case}",
                measured=ratio(timings, row, "log_run, integer labels"),
                wanted=15,
            )
    if sample.n >= LARGE:
        report.goal(
            f"chunk write / plain file, {case}",
            measured=ratio(timings, CHUNK_WRITE, PLAIN_FILE),
            wanted=5 if sample.n > LARGE else 8,
            at_least=False,
        )
    return timings


def _chunk_write(url: str, sample: Sample) -> Callable[[], None]:
    """Encoded codes and one score per case, as a streaming run writes them."""
    database = open_database(url)
    labels = LabelSet.numbered(N_CLASSES)
    batch = Batch(sample.predicted.astype(np.uint8), None, None, Scores(sample.scores[:, :1]))

    def write() -> None:
        opened = open_run(
            database,
            facts=RunFacts(name="chunks"),
            dataset="ints",
            labels=labels,
            positive_label=None,
        )
        with database.write() as session:
            for seq, chunk in enumerate(chunked(batch)):
                insert_chunk(
                    session,
                    run_id=opened.run.id,
                    seq=seq,
                    predicted=chunk.predicted,
                    scores=chunk.scores,
                    counts=None,
                    sha256=chunk.digest(labels),
                )

    return write


def _plain_file(sample: Sample, folder: Path) -> None:
    with (folder / "plain.bin").open("wb") as file:
        file.write(sample.predicted.astype(np.uint8).tobytes())
        file.write(sample.scores[:, 0].tobytes())
        file.flush()
        os.fsync(file.fileno())


def _row_values(sample: Sample) -> zip[tuple[int, int, int, float]]:
    return zip(
        range(sample.n),
        sample.truth.tolist(),
        sample.predicted.tolist(),
        sample.scores[:, 0].tolist(),
        strict=True,
    )


def _rows_sqlite3(sample: Sample, folder: Path) -> None:
    file = folder / "rows.db"
    file.unlink(missing_ok=True)
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(
        "CREATE TABLE prediction (run TEXT, idx INTEGER, actual INTEGER, predicted INTEGER,"
        " score REAL)"
    )
    with connection:
        connection.executemany(
            "INSERT INTO prediction VALUES ('r', ?, ?, ?, ?)", _row_values(sample)
        )
    connection.close()


def _rows_sqlalchemy(sample: Sample, folder: Path) -> None:
    file = folder / "rows-sqlalchemy.db"
    file.unlink(missing_ok=True)
    engine = create_engine(f"sqlite:///{file}")
    table = Table(
        "prediction",
        MetaData(),
        Column("idx", Integer),
        Column("actual", Integer),
        Column("predicted", Integer),
        Column("score", Double),
    )
    table.metadata.create_all(engine)
    names = ("idx", "actual", "predicted", "score")
    with engine.begin() as connection:
        connection.execute(
            table.insert(), [dict(zip(names, row, strict=True)) for row in _row_values(sample)]
        )
    engine.dispose()


if __name__ == "__main__":
    main()
