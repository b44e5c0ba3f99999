"""Suspect labels: how well planted errors rank, and how long a reader waits with 100,000 samples.

Ranking: models of ten classes with accuracies of 80 to 95 % on labels of which 2 % were changed,
at random or to the class that is most often confused with the right one. Found is the share of
them among the first 5 % of samples; the reference is the best model alone.

Pages: 100,000 samples with thumbnails of 28 x 28 pixels, four models with probabilities, 25 runs
of each, through the WSGI application in one process. Goals are 95th percentiles of processor time
in milliseconds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from time import process_time

import numpy as np
from flask import Flask
from harness import Report, Work, wants_everything
from numpy.typing import NDArray

import offdiag
from offdiag.inputs.content.given_samples import chunked_samples, given_samples
from offdiag.metrics.label_errors.suspects import Votes, rank_labels
from offdiag.services.samples.content import log_samples
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from offdiag_web.app.context import SUSPECTS_KEY

N, N_CLASSES = 100_000, 10
N_RUNS = 25
NAMES = np.array([f"class {code}" for code in range(N_CLASSES)])
SHARE, BUDGET = 0.02, 0.05
ACCURACIES = (0.95, 0.92, 0.88, 0.80)
Codes = NDArray[np.int64]
Table = NDArray[np.float64]


def main() -> None:
    everything = wants_everything("Measure suspect labels.")
    report = Report("suspects", libraries=("numpy", "flask", "sqlalchemy", "pillow"))
    for kind in ("random", "similar"):
        found = [_found(kind, seed) for seed in range(20 if everything else 5)]
        together, best_alone = (float(np.mean(part)) for part in zip(*found, strict=True))
        report.goal(
            f"{kind} errors found in the first 5 %, four models", measured=together, wanted=0.8
        )
        report.fact(f"{kind} errors found in the first 5 %, best model alone", best_alone)
    with tempfile.TemporaryDirectory() as folder, _dashboard(Path(folder), report) as (app, run):
        _hold_pages(report, app, run, turns=60 if everything else 20)
    report.save()


def _table(true: Codes, accuracy: float, rng: np.random.Generator) -> Table:
    """Probabilities of a model with this accuracy, unsure where it errs."""
    n = len(true)
    errs = rng.random(n) > accuracy
    shown = np.where(errs, (true + 1 + (rng.random(n) < 0.3)) % N_CLASSES, true)
    raw = np.exp(rng.normal(size=(n, N_CLASSES)))
    raw[np.arange(n), shown] += np.where(errs, 6, 25) * rng.random(n)
    table: Table = raw / raw.sum(axis=-1, keepdims=True)
    return table


def _planted(true: Codes, kind: str, rng: np.random.Generator) -> tuple[Codes, Codes]:
    places = rng.choice(len(true), round(SHARE * len(true)), replace=False)
    labels = true.copy()
    step = rng.integers(1, N_CLASSES, len(places)) if kind == "random" else 1
    labels[places] = (labels[places] + step) % N_CLASSES
    return labels, places


def _found(kind: str, seed: int) -> tuple[float, float]:
    """Shares of planted errors in the budget: all models together, and the best one alone."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, N_CLASSES, 20_000)
    labels, places = _planted(true, kind, rng)
    tables = [_table(true, accuracy, rng) for accuracy in ACCURACIES]
    votes = [Votes(table.argmax(axis=-1), table.astype(np.float32)) for table in tables]
    budget = round(BUDGET * len(true))
    shares = [
        float(
            np.isin(places, rank_labels(labels, some, n_classes=N_CLASSES).order[:budget]).mean()
        )
        for some in (votes, votes[:1])
    ]
    return shares[0], shares[1]


def _hold_pages(report: Report, app: Flask, run: str, *, turns: int) -> None:
    def first() -> None:
        app.extensions.pop(SUSPECTS_KEY, None)
        _ask(app, "/datasets/scans/suspects")

    pages: dict[str, tuple[float, int, Work]] = {
        "suspect labels, first": (3_000, 5, first),
        "suspect labels, seen before": (
            150,
            turns,
            lambda: _ask(app, "/datasets/scans/suspects?from=26"),
        ),
        "label noise": (500, turns, lambda: _ask(app, "/datasets/scans/noise")),
        "gallery of errors": (100, turns, lambda: _ask(app, f"/runs/{run}/examples")),
    }
    for name, (limit_ms, n, work) in pages.items():
        work()
        seconds = []
        for _ in range(n):
            begin = process_time()
            work()
            seconds.append(process_time() - begin)
        p95 = round(quantiles(seconds, n=20, method="inclusive")[-1] * 1000, 1)
        report.goal(
            f"{name}, p95 of the processor, ms", measured=p95, wanted=limit_ms, at_least=False
        )


def _ask(app: Flask, path: str) -> None:
    answer = app.test_client().get(path)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status}")


@contextmanager
def _dashboard(folder: Path, report: Report) -> Iterator[tuple[Flask, str]]:
    url = f"sqlite:///{folder / 'registry.db'}"
    rng = np.random.default_rng(1)
    true = rng.integers(0, N_CLASSES, N)
    labels, _ = _planted(true, "random", rng)
    for at, accuracy in enumerate(ACCURACIES):
        table = _table(true, accuracy, rng)
        for number in range(N_RUNS):
            run = offdiag.log_run(
                y_true=NAMES[labels],
                y_pred=NAMES[table.argmax(axis=-1)],
                y_score=table if number == 0 else None,
                labels=NAMES.tolist(),
                name=f"net {at}, epoch {number}",
                model=f"net {at}",
                dataset="scans",
                url=url,
            )
            if number == 0:
                run.evaluate(timeout=600)
            if at == number == 0:
                shown = run.id
    database = Database(url)
    shapes = rng.random((N_CLASSES, 28, 28))
    for chunk in chunked_samples(
        given_samples(range(N), images=[shapes[code] for code in true.tolist()])
    ):
        log_samples(database, project="default", dataset="scans", given=chunk)
    page = create_app(Settings(), database)
    answer = page.test_client().get("/api/v1/datasets/scans/samples?limit=1").get_json()
    n_bytes = answer["n_bytes"]
    report.fact("thumbnail of 28 x 28 pixels, bytes a sample", round(n_bytes / N))
    try:
        yield page, shown
    finally:
        database.close()


if __name__ == "__main__":
    main()
