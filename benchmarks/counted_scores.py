"""Scores counted by DuckDB instead of being logged: time, memory, and errors of the values.

    python benchmarks/counted_scores.py [--full]

Rows of two classes with a calibrated score `p` and an overconfident one `m`, many of which are 0
or 1 or close to it. DuckDB generates them while it counts, with a slice column of eight values, in
separate processes; `--full` adds 1e8 rows. For 1e7 rows the scores are also evaluated one by one.
"""

from __future__ import annotations

import json
import resource
import tempfile
from time import perf_counter, process_time
from typing import Any

from harness import Report, in_a_process, wants_everything

EXACT = 10**7
"""Number of rows whose scores are also evaluated one by one."""
CHILD = "from counted_scores import measure_here; measure_here({score!r}, {n_rows})"
BOUNDED = ("roc_auc", "average_precision", "ks")


def main() -> None:
    everything = wants_everything("Measure counting of scores on DuckDB.")
    report = Report("counted_scores", libraries=("narwhals", "duckdb"))
    sizes = (10**6, EXACT, 10**8) if everything else (10**6, EXACT)
    for score in ("p", "m"):
        found = {
            n_rows: in_a_process(CHILD.format(score=score, n_rows=n_rows)) for n_rows in sizes
        }
        for n_rows, each in found.items():
            for name, value in each.items():
                report.fact(f"{score}, {n_rows:.0e} rows: {name}", value)
        report.goal(
            f"{score}: peak memory at {max(sizes):.0e} rows over 1e+06",
            measured=found[max(sizes)]["peak, MiB"] / found[10**6]["peak, MiB"],
            wanted=1.5,
            at_least=False,
        )
        for key in BOUNDED:
            report.goal(
                f"{score}, {EXACT:.0e} rows: {key}, error over bound",
                measured=found[EXACT][f"{key}, error"] / max(found[EXACT][f"{key}, bound"], 1e-12),
                wanted=1.0,
                at_least=False,
            )
        if everything:
            report.goal(
                f"{score}, 1e+08 rows: counted and evaluated, s of the processor",
                measured=found[10**8]["of the processor, s"],
                wanted=120,
                at_least=False,
            )
    report.save()


def measure_here(score: str, n_rows: int) -> None:
    """Log and evaluate in this process, and print time, peak, errors and bounds as JSON."""
    import offdiag

    rows = rows_of(n_rows)
    with tempfile.TemporaryDirectory() as folder:
        started, worked = perf_counter(), process_time()
        run = offdiag.log_frame(
            rows,
            score=score,
            slices=["site"],
            positive_label=1,
            keep_predictions=False,
            name=score,
            dataset="made",
            url=f"sqlite:///{folder}/registry.db",
        )
        found = run.evaluation()
        figures = {
            "logged and evaluated, s": round(perf_counter() - started, 2),
            "of the processor, s": round(process_time() - worked, 2),
            "peak, MiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        }
    if found.matrix.total != n_rows:
        raise AssertionError(f"{n_rows} rows were not counted.")
    exact = _evaluated(rows, score) if n_rows == EXACT else {}
    for key in BOUNDED:
        value = found.aggregate[key]
        figures[f"{key}, bound"] = value.error_bound or 0.0
        if exact:
            figures[f"{key}, error"] = abs(float(value) - exact[key])
    print(json.dumps(figures))


def _evaluated(rows: Any, score: str) -> dict[str, float]:
    import numpy as np

    from offdiag.metrics.scores.forecasts import Forecasts
    from offdiag.metrics.scores.suite import score_metrics

    columns = rows.select(f"y, CAST({score} AS FLOAT) AS s").fetchnumpy()
    scores = np.asarray(columns["s"])[:, np.newaxis]
    forecasts = Forecasts(np.asarray(columns["y"]), scores, n_classes=2, positive=1)
    values = score_metrics(forecasts)
    return {key: float(values[key]) for key in BOUNDED}


def rows_of(n_rows: int, *, seed: int = 0) -> Any:
    """Rows with p = P(y = 1), about 1 in 20, and m, which doubles the logit of p twice."""
    import duckdb

    uniform = f"(hash(i * 3 + {{}} + {seed * 10**12}) % 16777213 + 0.5) / 16777213"
    return duckdb.connect().sql(
        f"SELECT CAST({uniform.format(1)} < p AS INTEGER) AS y, CAST(p > 0.5 AS INTEGER) AS yhat, "
        "i % 8 AS site, p, least(greatest(1.02 / (1 + exp(-4 * logit)) - 0.01, 0), 1) AS m "
        "FROM (SELECT i, logit, 1 / (1 + exp(-logit)) AS p FROM "
        f"(SELECT i, ln(u / (1 - u)) - 3.5 AS logit FROM "
        f"(SELECT i, {uniform.format(2)} AS u FROM range({n_rows}) AS numbers(i))))"
    )


if __name__ == "__main__":
    main()
