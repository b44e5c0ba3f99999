"""Runs counted on a cluster: Dask with two processes and local Spark, compared with DuckDB.

    pip install 'dask[distributed]' pyspark
    python benchmarks/engines.py [--full]

Neither of the two is one of the development tools, and Spark needs Java 17. All read the same
Parquet files: two classes, a calibrated score, a slice column of eight values. Each logs and
evaluates a run and counts two others together, in separate processes, and the stored results have
to be the same: counts exactly, values to 1e-9, because sums are added in another order. `--full`
has ten times as many rows.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import isclose
from pathlib import Path
from time import perf_counter
from typing import Any

from counted_scores import rows_of
from harness import Report, in_a_process, wants_everything

CHILD = "from engines import measure_here; measure_here({engine!r}, {folder!r})"
ENGINES = ("DuckDB", "Dask, two processes", "Spark, local[2]")
FILES = 8
SAME = 1e-9
OTHER = "CASE WHEN hash(p) % 10 = 0 THEN 1 - yhat ELSE yhat END"
"""A second model, which changes the predicted class of one row in ten."""


def main() -> None:
    n_rows = 10**8 if wants_everything("Measure counting on clusters.") else 10**7
    report = Report("engines", libraries=("narwhals", "duckdb", "dask", "distributed", "pyspark"))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            path = f"{folder}/{number}.parquet"
            rows = rows_of(n_rows // FILES, seed=number)
            rows.select(f"*, {OTHER} AS other").write_parquet(path)
        found: dict[str, dict[str, Any]] = {
            engine: in_a_process(CHILD.format(engine=engine, folder=folder)) for engine in ENGINES
        }
    reference = found[ENGINES[0]]["stored"]
    for engine, measured in found.items():
        report.fact(f"{engine}: cluster started, s", measured["started_s"])
        report.fact(f"{engine}: logged and evaluated, s", measured["work_s"])
        report.goal(
            f"{engine}: values that differ from {ENGINES[0]}",
            measured=len(differences(measured["stored"], reference)),
            wanted=0,
            at_least=False,
        )
    report.fact("rows", n_rows)
    report.fact("values compared", len(reference))
    report.save()


def differences(stored: dict[str, Any], reference: dict[str, Any]) -> list[str]:
    """Keys whose values differ; counts and undefined values have to be equal."""
    return [
        key
        for key in stored.keys() | reference.keys()
        if not _same(stored.get(key), reference.get(key))
    ]


def _same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=SAME, abs_tol=SAME)
    return one == other


def measure_here(engine: str, folder: str) -> None:
    """Log and evaluate in this process, and print times and what was stored as JSON."""
    import offdiag

    started = perf_counter()
    with frame_of(engine, Path(folder)) as frame, tempfile.TemporaryDirectory() as place:
        begun = perf_counter()
        run = offdiag.log_frame(
            frame,
            score="p",
            slices=["site"],
            positive_label=1,
            keep_predictions=False,
            name=engine,
            dataset="made",
            url=f"sqlite:///{place}/registry.db",
        )
        found, slices = run.evaluation(), run.slices(limit=8)
        pair = offdiag.log_frame(
            frame,
            predicted={"one": "yhat", "other": "other"},
            keep_predictions=False,
            dataset="made",
            url=f"sqlite:///{place}/registry.db",
        )
        compared = offdiag.compare(list(pair.values()), url=f"sqlite:///{place}/registry.db")
        ended = perf_counter()
    stored: dict[str, Any] = {"counts": found.matrix.counts.tolist()}
    for key, value in found.aggregate.items():
        stored[key] = value.value
        stored[f"{key}, bound"] = value.error_bound
    stored["paired"] = compared.is_paired
    stored |= {f"compared, {key}": each for key, each in compared.metrics["difference"].items()}
    stored |= {f"slices, {name}": slices[name].astype(str).tolist() for name in slices}
    figures = {"started_s": round(begun - started, 2), "work_s": round(ended - begun, 2)}
    print(json.dumps({**figures, "stored": stored}))


@contextmanager
def frame_of(engine: str, folder: Path) -> Iterator[Any]:
    """The files as a frame of the engine, which is shut down at the end of the block."""
    files = f"{folder}/*.parquet"
    if engine.startswith("DuckDB"):
        import duckdb

        yield duckdb.connect().read_parquet(files)
    elif engine.startswith("Dask"):
        import dask.dataframe as dd
        from distributed import Client

        with Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None):
            yield dd.read_parquet(files)
    else:
        from pyspark.sql import SparkSession

        session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        spark = session.getOrCreate()
        try:
            yield spark.read.parquet(str(folder))
        finally:
            spark.stop()


if __name__ == "__main__":
    main()
