"""The page that compares runs: computed for the first time, and viewed again.

Runs of 10,000 and of 100,000 cases are in one SQLite file; models share two thirds of their
errors, as models of one dataset do. The page is requested through the WSGI application, so that
reading, computing and rendering count. The goals in milliseconds are processor time, which other
work on the machine hardly changes: a page is the work of one thread, so on a quiet machine it is
how long a reader waits. Wall-clock times are given as well. `--full` adds 30 classes and 100.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from time import process_time
from typing import Any

import numpy as np
from flask import Flask
from harness import Report, Work, ratio, wants_everything
from numpy.typing import NDArray
from sqlalchemy import Engine, event

import offdiag
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from offdiag_web.app.context import COMPARISONS_KEY

N_SAMPLES = 10_000
N_CLASSES = 10
FIRST, AGAIN = "for the first time", "seen before"

Labels = NDArray[np.int64]


def main() -> None:
    everything = wants_everything("Measure the page that compares runs.")
    report = Report("compare", libraries=("numpy", "flask", "sqlalchemy"))
    turns = 40 if everything else 15
    with tempfile.TemporaryDirectory() as folder, _dashboard(Path(folder)) as (app, url):
        measure_pair(report, app, url, turns=turns)
        measure_many(report, app, url, turns=turns)
        if everything:
            for n_classes in (30, 100):
                address = _logged(url, 2, n_classes=n_classes)
                report.measure(f"two runs, K={n_classes}, n=1e+04", _variants(app, address))
    report.save()


def measure_pair(report: Report, app: Flask, url: str, *, turns: int) -> None:
    address = _logged(url, 2)
    variants = _variants(app, address)
    timings = report.measure(f"two runs, K={N_CLASSES}, n=1e+04", variants, turns=turns)
    again = timings[AGAIN].median_s / timings[FIRST].median_s
    report.goal(f"two runs, {AGAIN} / first", measured=again, wanted=0.6, at_least=False)
    for name, budget_ms in ((FIRST, 250), (AGAIN, 80)):
        report.fact(f"two runs, {name}, p95 by the clock, ms", _p95_ms(timings[name].seconds))
        needed = _p95_ms(_processor_seconds(variants[name], 2 * turns))
        report.goal(
            f"two runs, {name}, p95 of the processor, ms",
            measured=needed,
            wanted=budget_ms,
            at_least=False,
        )
        with _statements() as counted:
            variants[name]()
        report.goal(f"statements, {name}", measured=len(counted), wanted=6, at_least=False)
    _grows_little(report, app, address, _logged(url, 2, n_samples=10 * N_SAMPLES))


def measure_many(report: Report, app: Flask, url: str, *, turns: int) -> None:
    variants = _variants(app, _logged(url, 8))
    timings = report.measure(f"eight runs, K={N_CLASSES}, n=1e+04", variants, turns=turns)
    for name, work in variants.items():
        report.fact(f"eight runs, {name}, p95 by the clock, ms", _p95_ms(timings[name].seconds))
        needed = _p95_ms(_processor_seconds(work, turns))
        report.fact(f"eight runs, {name}, p95 of the processor, ms", needed)


def _grows_little(report: Report, app: Flask, address: str, larger: str) -> None:
    """Only counting pairs takes longer with more cases; the bootstrap draws counts."""
    timings = report.measure(
        f"two runs, K={N_CLASSES}, by cases",
        {"n=1e+04": _first(app, address), "n=1e+05": _first(app, larger)},
    )
    growth = ratio(timings, "n=1e+05", "n=1e+04")
    report.goal("two runs, first, n=1e+05 / 1e+04", measured=growth, wanted=3, at_least=False)


def _processor_seconds(work: Work, times: int) -> list[float]:
    found = []
    for _ in range(times):
        start = process_time()
        work()
        found.append(process_time() - start)
    return found


def _p95_ms(seconds: Sequence[float]) -> float:
    return round(quantiles(seconds, n=20, method="inclusive")[-1] * 1000, 1)


@contextmanager
def _dashboard(folder: Path) -> Iterator[tuple[Flask, str]]:
    url = f"sqlite:///{folder / 'registry.db'}"
    offdiag.log_run(y_true=[0, 1], y_pred=[0, 1], name="first", dataset="pair", url=url)
    database = Database(url)
    try:
        yield create_app(Settings(), database), url
    finally:
        database.close()


def _logged(
    url: str, n_runs: int, *, n_samples: int = N_SAMPLES, n_classes: int = N_CLASSES
) -> str:
    """The address of a comparison of runs that were logged and evaluated for it."""
    rng = np.random.default_rng(1)
    truth = np.sort(rng.zipf(1.5, n_samples) % n_classes)
    hard = rng.random(n_samples) < 0.13
    lure = rng.integers(0, n_classes, n_samples)
    runs = []
    for place in range(n_runs):
        run = offdiag.log_run(
            y_true=truth,
            y_pred=_answers(truth, hard, lure, seed=place),
            name=f"model {place}",
            dataset=f"{n_runs} runs, {n_classes} classes, {n_samples} cases",
            params={"seed": place, "loss": "ce"},
            url=url,
        )
        run.evaluation()
        runs.append(run.id)
    return f"/compare?runs={','.join(runs)}"


def _answers(truth: Labels, hard: NDArray[np.bool_], lure: Labels, *, seed: int) -> Labels:
    """On hard cases all models give the same wrong prediction; each also makes its own errors."""
    rng = np.random.default_rng([2, seed])
    drawn = hard & (rng.random(len(truth)) < 0.9)
    own = rng.random(len(truth)) < 0.06
    noise = rng.integers(0, truth.max() + 1, len(truth))
    answers: Labels = np.where(drawn, lure, np.where(own, noise, truth))
    return answers


def _variants(app: Flask, address: str) -> dict[str, Work]:
    return {FIRST: _first(app, address), AGAIN: _again(app, address)}


def _first(app: Flask, address: str) -> Work:
    def ask() -> None:
        kept = app.extensions.pop(COMPARISONS_KEY, None)
        _answered(app, address)
        if kept is not None:
            app.extensions[COMPARISONS_KEY] = kept

    return ask


def _again(app: Flask, address: str) -> Work:
    _answered(app, address)
    return lambda: _answered(app, address)


def _answered(app: Flask, address: str) -> None:
    answer = app.test_client().get(address)
    if answer.status_code != 200:
        raise RuntimeError(f"{address} answered {answer.status}")


@contextmanager
def _statements() -> Iterator[list[str]]:
    counted: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        is_data = statement.lstrip().upper().startswith(("SELECT", "WITH"))
        if is_data and "/* navigation */" not in statement:
            counted.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield counted
    finally:
        event.remove(Engine, "before_cursor_execute", note)


if __name__ == "__main__":
    main()
