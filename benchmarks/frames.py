"""Counting frames in their own engine: peak memory and time by the number of rows.

    python benchmarks/frames.py [--full]

`--full` adds 1e8 rows. Each measurement is a process of its own that logs a frame with
`keep_predictions=False` to a new registry; the engine itself generates the rows, with 10 classes
and 3 slices, and never holds all of them at once. The peak is the largest resident memory of the
process, including its interpreter and libraries.
"""

from __future__ import annotations

import json
import resource
import tempfile
from time import perf_counter
from typing import Any

from harness import Report, in_a_process, wants_everything

N_CLASSES = 10
PARTITION = 500_000
"""Number of rows in one partition of Dask."""
CHILD = "from frames import measure_here; measure_here({engine!r}, {n_rows})"
TURNS = 3


def main() -> None:
    everything = wants_everything("Measure counting on engines.")
    report = Report("frames", libraries=("narwhals", "duckdb", "dask", "pandas"))
    sizes = (10**6, 10**7, 10**8) if everything else (10**6, 10**7)
    for engine in ("duckdb", "dask"):
        peaks = {n_rows: _measured(report, engine, n_rows) for n_rows in sizes}
        smallest, largest = min(sizes), max(sizes)
        report.goal(
            f"{engine}: peak memory at {largest:.0e} rows over {smallest:.0e}",
            measured=peaks[largest] / peaks[smallest],
            wanted=1.5,
            at_least=False,
        )
    report.save()


def _measured(report: Report, engine: str, n_rows: int) -> float:
    """Record median time and highest peak over some processes; returns the peak in MiB."""
    found = [
        in_a_process(CHILD.format(engine=engine, n_rows=n_rows))
        for _ in range(1 if n_rows >= 10**8 else TURNS)
    ]
    peak = max(each["peak_mib"] for each in found)
    seconds = sorted(each["seconds"] for each in found)[len(found) // 2]
    report.fact(f"{engine}, {n_rows:.0e} rows: peak, MiB", round(peak, 1))
    report.fact(f"{engine}, {n_rows:.0e} rows: logged in, s", round(seconds, 2))
    return float(peak)


def measure_here(engine: str, n_rows: int) -> None:
    """Log the frame of an engine in this process, and print time and peak as JSON."""
    import offdiag

    frame = {"duckdb": _duckdb_rows, "dask": _dask_rows}[engine](n_rows)
    with tempfile.TemporaryDirectory() as folder:
        started = perf_counter()
        run = offdiag.log_frame(
            frame,
            actual="y",
            predicted="yhat",
            slices=["site"],
            keep_predictions=False,
            name=engine,
            dataset="made",
            url=f"sqlite:///{folder}/registry.db",
        )
        seconds = perf_counter() - started
        peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if run.evaluation().matrix.total != n_rows:
            raise AssertionError(f"{engine} did not count {n_rows} rows.")
    print(json.dumps({"seconds": seconds, "peak_mib": peak_kib / 1024}))


def _duckdb_rows(n_rows: int) -> Any:
    import duckdb

    return duckdb.connect().sql(
        f"SELECT hash(i) % {N_CLASSES} AS y, "
        f"CASE WHEN hash(i + 1) % 5 = 0 THEN hash(i + 2) % {N_CLASSES} "
        f"ELSE hash(i) % {N_CLASSES} END AS yhat, "
        f"i % 3 AS site FROM range({n_rows}) AS numbers(i)"
    )


def _dask_rows(n_rows: int) -> Any:
    import dask.dataframe as dd

    return dd.from_map(_partition, range(0, n_rows, PARTITION))  # type: ignore[no-untyped-call]  # As it is.


def _partition(start: int) -> Any:
    import numpy as np
    import pandas as pd

    generator = np.random.default_rng(start)
    actual = generator.integers(0, N_CLASSES, PARTITION)
    other = generator.integers(0, N_CLASSES, PARTITION)
    found = np.where(generator.random(PARTITION) < 0.2, other, actual)
    site = np.arange(start, start + PARTITION) % 3
    return pd.DataFrame({"y": actual, "yhat": found, "site": site})


if __name__ == "__main__":
    main()
