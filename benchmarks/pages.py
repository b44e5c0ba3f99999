"""Pages of the dashboard over 10,000 runs: how long a reader waits for each of them.

Forty runs of ten classes are logged and evaluated, and copied with their results, flags and
predictions until there are 10,000 in one SQLite file; pages are requested through the WSGI
application, one after the other in one process, so that reading, computing and rendering count.
Goals are 95th percentiles of processor time in milliseconds, which other work on the machine
hardly changes; wall-clock times are given as well. `--full` requests them more often.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from time import perf_counter, process_time

import numpy as np
from flask import Flask
from harness import Report, Work, wants_everything
from numpy.typing import NDArray

import offdiag
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from offdiag_web.app.context import COMPARISONS_KEY

N_RUNS = 10_000
N_TEMPLATES = 40
N_CLASSES = 10
LABELS = [f"class {code}" for code in range(N_CLASSES)]
_OF_RUN = ("prediction_chunk", "flag")
_OF_EVALUATION = ("confusion_matrix", "metric_value", "class_values")

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Logged:
    """Ids of runs by their purpose."""

    listed: str
    compared: tuple[str, ...]
    scored: str
    maps: Mapping[int, str]


def main() -> None:
    everything = wants_everything("Measure the pages of the dashboard.")
    turns = 100 if everything else 30
    report = Report("pages", libraries=("flask", "sqlalchemy", "jinja2", "pillow"))
    with tempfile.TemporaryDirectory() as folder, _dashboard(Path(folder)) as (app, runs):
        report.fact("runs in the registry", _count(Path(folder), "run"))
        report.fact("flags in the registry", _count(Path(folder), "flag"))
        report.fact("size of the database, MiB", round(_size(Path(folder)) / 2**20))
        for name, (limit_ms, work) in _pages(app, runs).items():
            few = 10 if "first" in name else turns
            _hold(report, name, work, limit_ms=limit_ms, turns=few)
    report.save()


def _pages(app: Flask, runs: Logged) -> dict[str, tuple[float, Work]]:
    """Every page with its limit in milliseconds."""
    pair = f"/compare?runs={','.join(runs.compared[:2])}"
    what_if = f"/whatif?runs={','.join(runs.compared)}&cost=@0-1"
    prices = iter(range(1, 1_000_000))

    def compare_first() -> None:
        app.extensions.pop(COMPARISONS_KEY, None)
        _ask(app, pair)

    def recompute() -> None:
        _ask(app, f"{what_if}&set=class 0>class 1:{next(prices)}")

    _ask(app, pair)
    tags = {size: _tag(app, run) for size, run in runs.maps.items()}
    maps = {size: f"/runs/{run}/matrix.png" for size, run in runs.maps.items()}
    decisions = f"/whatif/decisions?run={runs.scored}&cost=@0-1&set=class 0>*:x9"
    return {
        "runs, 50 lines": (150, lambda: _ask(app, "/runs")),
        "runs, sorted by a metric": (150, lambda: _ask(app, "/runs?sort=-mcc")),
        "datasets": (150, lambda: _ask(app, "/")),
        "a dataset": (150, lambda: _ask(app, "/datasets/listed")),
        "a run": (100, lambda: _ask(app, f"/runs/{runs.listed}")),
        "problems": (80, lambda: _ask(app, "/problems")),
        "compare two runs, first": (250, compare_first),
        "compare two runs, seen before": (80, lambda: _ask(app, pair)),
        "what-if, four runs, other prices": (60, recompute),
        "decisions, n=1e+04": (250, lambda: _ask(app, decisions)),
        "map of 100 classes": (50, lambda: _ask(app, maps[100])),
        "map of 1,000 classes": (400, lambda: _ask(app, maps[1_000])),
        "map of 1,000 classes, 304": (15, lambda: _ask(app, maps[1_000], tag=tags[1_000])),
    }


def _hold(report: Report, name: str, work: Work, *, limit_ms: float, turns: int) -> None:
    """Request once to warm up, then `turns` times, and compare the slow ones with the limit."""
    work()
    by_clock, of_processor = _seconds(work, turns)
    report.fact(f"{name}, p95 by the clock, ms", _p95_ms(by_clock))
    report.goal(
        f"{name}, p95 of the processor, ms",
        measured=_p95_ms(of_processor),
        wanted=limit_ms,
        at_least=False,
    )


def _seconds(work: Work, turns: int) -> tuple[list[float], list[float]]:
    by_clock, of_processor = [], []
    for _ in range(turns):
        clock, processor = perf_counter(), process_time()
        work()
        by_clock.append(perf_counter() - clock)
        of_processor.append(process_time() - processor)
    return by_clock, of_processor


def _p95_ms(seconds: list[float]) -> float:
    return round(quantiles(seconds, n=20, method="inclusive")[-1] * 1000, 1)


def _ask(app: Flask, path: str, *, tag: str | None = None) -> None:
    headers = {} if tag is None else {"If-None-Match": tag}
    answer = app.test_client().get(path, headers=headers)
    wanted = 200 if tag is None else 304
    if answer.status_code != wanted:
        raise RuntimeError(f"{path} answered {answer.status}")


def _tag(app: Flask, run_id: str) -> str:
    return app.test_client().get(f"/runs/{run_id}/matrix.png").headers["ETag"]


@contextmanager
def _dashboard(folder: Path) -> Iterator[tuple[Flask, Logged]]:
    path = folder / "registry.db"
    url = f"sqlite:///{path}"
    listed = _log_runs(url, "listed", n_runs=N_TEMPLATES, n_samples=1_000)
    _copy_runs(path, times=N_RUNS // N_TEMPLATES - 1)
    compared = _log_runs(url, "compared", n_runs=4, n_samples=10_000)
    logged = Logged(
        listed[0],
        tuple(compared),
        _log_scored(url),
        {size: _log_matrix(url, size) for size in (100, 1_000)},
    )
    database = Database(url)
    try:
        yield create_app(Settings(), database), logged
    finally:
        database.close()


def _log_runs(url: str, dataset: str, *, n_runs: int, n_samples: int) -> list[str]:
    """Models of one dataset that share most of their errors."""
    rng = np.random.default_rng(1)
    truth = np.sort(rng.zipf(1.5, n_samples) % N_CLASSES)
    hard = rng.random(n_samples) < 0.13
    lure = rng.integers(0, N_CLASSES, n_samples)
    return [
        _log(url, dataset, truth, _answers(truth, hard, lure, seed=place), name=f"model {place}")
        for place in range(n_runs)
    ]


def _answers(truth: Codes, hard: NDArray[np.bool_], lure: Codes, *, seed: int) -> Codes:
    rng = np.random.default_rng([2, seed])
    own = rng.random(len(truth)) < 0.06
    noise = rng.integers(0, N_CLASSES, len(truth))
    drawn = hard & (rng.random(len(truth)) < 0.9)
    found: Codes = np.where(drawn, lure, np.where(own, noise, truth))
    return found


def _log(url: str, dataset: str, truth: Codes, answers: Codes, *, name: str) -> str:
    run = offdiag.log_run(
        y_true=[LABELS[code] for code in truth],
        y_pred=[LABELS[code] for code in answers],
        name=name,
        model="gradient boosting",
        dataset=dataset,
        labels=LABELS,
        params={"depth": 6},
        tags={"team": "one"},
        url=url,
    )
    run.evaluation()
    return run.id


def _log_scored(url: str) -> str:
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.full(N_CLASSES, 0.3), 10_000).astype(np.float32)
    actual = np.where(rng.random(10_000) < 0.8, p.argmax(axis=1), rng.integers(0, N_CLASSES))
    run = offdiag.log_run(
        y_true=[LABELS[code] for code in actual],
        y_pred=[LABELS[code] for code in p.argmax(axis=1)],
        y_score=p,
        labels=LABELS,
        name="scored",
        dataset="scored",
        url=url,
    )
    run.evaluation()
    return run.id


def _log_matrix(url: str, size: int) -> str:
    rng = np.random.default_rng(4)
    counts = rng.poisson(0.05, (size, size)) + np.diag(rng.poisson(40, size))
    run = offdiag.log_matrix(
        counts,
        labels=[f"species {code:04d}" for code in range(size)],
        orientation="actual_rows",
        name=f"{size} classes",
        dataset=f"{size} classes",
        url=url,
    )
    run.evaluation()
    return run.id


def _copy_runs(path: Path, *, times: int) -> None:
    """Copy every run with everything that belongs to it; only ids and names differ."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(
            "CREATE TEMP TABLE copy AS WITH RECURSIVE n(i) AS "
            "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
            "SELECT evaluation.run_id AS old_run, evaluation.run_id || 'c' || i AS new_run, "
            "evaluation.id AS old_evaluation, "
            "(SELECT max(id) FROM evaluation) * i + evaluation.id AS new_evaluation, i "
            "FROM evaluation, n",
            (times,),
        )
        copied = _copier(connection)
        copied("run", "id", "copy.old_run", {"id": "copy.new_run", "client_key": "NULL"})
        copied(
            "evaluation",
            "id",
            "copy.old_evaluation",
            {"id": "copy.new_evaluation", "run_id": "copy.new_run"},
        )
        for table in _OF_RUN:
            copied(
                table,
                "run_id",
                "copy.old_run",
                {"id": None, "run_id": "copy.new_run", "evaluation_id": "copy.new_evaluation"},
            )
        for table in _OF_EVALUATION:
            copied(
                table,
                "evaluation_id",
                "copy.old_evaluation",
                {"evaluation_id": "copy.new_evaluation"},
            )
        connection.commit()


def _copier(
    connection: sqlite3.Connection,
) -> Callable[[str, str, str, Mapping[str, str | None]], None]:
    def copied(table: str, key: str, old: str, changed: Mapping[str, str | None]) -> None:
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        kept = [name for name in names if changed.get(name, "") is not None]
        values = (changed.get(name) or f"{table}.{name}" for name in kept)
        connection.execute(
            f"INSERT INTO {table} ({', '.join(kept)}) SELECT {', '.join(values)} "
            f"FROM {table} JOIN copy ON {table}.{key} = {old}"
        )

    return copied


def _count(folder: Path, table: str) -> int:
    with closing(sqlite3.connect(folder / "registry.db")) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


if __name__ == "__main__":
    main()
