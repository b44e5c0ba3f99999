"""Runs counted together by DuckDB, and compared: time and memory by number of rows.

    python benchmarks/counted_together.py [--full]

Rows of four classes with a slice column of eight values, and columns of predictions that share
half of their errors. DuckDB generates them while it counts, in separate processes; `--full` adds
1e8 rows. Each run is counted, stored and evaluated, and then all of them are compared.
"""

from __future__ import annotations

import json
import resource
import tempfile
from time import perf_counter, process_time
from typing import Any

from harness import Report, in_a_process, wants_everything

CHILD = "from counted_together import measure_here; measure_here({n_rows}, {n_runs})"
N_RUNS = (2, 5)


def main() -> None:
    everything = wants_everything("Measure counting of several runs on DuckDB.")
    report = Report("counted_together", libraries=("narwhals", "duckdb"))
    sizes = (10**6, 10**7, 10**8) if everything else (10**6, 10**7)
    for n_runs in N_RUNS:
        found = {
            n_rows: in_a_process(CHILD.format(n_rows=n_rows, n_runs=n_runs)) for n_rows in sizes
        }
        for n_rows, each in found.items():
            for name, value in each.items():
                report.fact(f"{n_runs} runs, {n_rows:.0e} rows: {name}", value)
        report.goal(
            f"{n_runs} runs: peak memory at {max(sizes):.0e} rows over 1e+06",
            measured=found[max(sizes)]["peak, MiB"] / found[10**6]["peak, MiB"],
            wanted=2.0,
            at_least=False,
        )
    report.save()


def measure_here(n_rows: int, n_runs: int) -> None:
    """Log and compare in this process, and print time and peak as JSON."""
    import offdiag

    rows = _rows(n_rows, n_runs)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/registry.db"
        started, worked = perf_counter(), process_time()
        runs = offdiag.log_frame(
            rows,
            predicted={f"run {run}": f"yhat_{run}" for run in range(n_runs)},
            slices=["site"],
            keep_predictions=False,
            dataset="made",
            url=url,
        )
        for run in runs.values():
            run.evaluation()
        logged, processor = perf_counter() - started, process_time() - worked
        started = perf_counter()
        found = offdiag.compare(list(runs.values()), url=url)
        compared = perf_counter() - started
        figures = {
            "logged and evaluated, s": round(logged, 2),
            "of the processor, s": round(processor, 2),
            "compared, s": round(compared, 2),
            "peak, MiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        }
    if not found.is_paired:
        raise AssertionError("The runs were not paired.")
    print(json.dumps(figures))


def _rows(n_rows: int, n_runs: int) -> Any:
    """The actual class, and predictions right in about four of five rows."""
    import duckdb

    drawn = "hash(i * 31 + {}) % 1000"
    predicted = ", ".join(
        f"CASE WHEN (CASE WHEN {drawn.format(3 * run + 5)} < 500 THEN {drawn.format(1)} "
        f"ELSE {drawn.format(3 * run + 6)} END) < {800 + 5 * run} THEN hash(i) % 4 "
        f"ELSE {drawn.format(3 * run + 7)} % 4 END AS yhat_{run}"
        for run in range(n_runs)
    )
    return duckdb.connect().sql(
        f"SELECT hash(i) % 4 AS y, i % 8 AS site, {predicted} FROM range({n_rows}) AS numbers(i)"
    )


if __name__ == "__main__":
    main()
