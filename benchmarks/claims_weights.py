"""How often claims about weighted runs are wrong, and how often their intervals cover.

Ties are those of `claims.py`. Weights are lognormal (sigma 1), or those of a balanced test set of
two classes, one of which is rare: the inverse of how often each was sampled. The table goes into
docs/contributing/claims.md.

    python benchmarks/claims_weights.py              some minutes on two cores
    python benchmarks/claims_weights.py --sets 10    a look; writes nothing
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import sqrt
from multiprocessing import get_context

import numpy as np
from claims import (
    COVERAGE,
    SETS,
    SETS_OF_A_PAIR,
    Cell,
    Rng,
    allowed,
    even,
    labels_of,
    name_of,
    percent,
    rare,
    run_cells,
    tied,
    write_page,
)
from harness import Report
from numpy.typing import NDArray

from offdiag.comparison.sets_and_weights import compare_weighted
from offdiag.domain.labels import LabelSet
from offdiag.flags.assessment import assess
from offdiag.metrics.paired.weighted import WeightedPair
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.suite import score_metrics
from offdiag.metrics.suite import evaluate_stack
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.metrics.weighted.intervals import weighted_suite_intervals
from offdiag.metrics.weighted.scores import WeightedForecasts, weighted_score_metrics

TWO = LabelSet(("c0", "c1"))
FAILING = frozenset({"F1", "F2", "F3", "F4"})
SCORED = ("roc_auc", "average_precision", "log_loss", "brier_half")
COVERED = ("overall_accuracy", "balanced_accuracy", "mcc")
TRUE_SHARES = (0.9, 0.1)
"""Of two classes where the model is used; the test set of the second kind is balanced."""


@dataclass(frozen=True)
class Weights:
    """How samples are weighted: at random, or by their class back to `TRUE_SHARES`."""

    by_class: bool

    def of(self, actual: NDArray[np.uint8], rng: Rng) -> NDArray[np.float64]:
        if self.by_class:
            return np.asarray(TRUE_SHARES)[actual] * 2
        return rng.lognormal(0.0, 1.0, len(actual))


def ties(cell: Cell, rng: Rng, *, weights: Weights) -> tuple[float, ...]:
    """Whether any primary metric or any recall is called different; which intervals cover."""
    actual, (first, second) = cell.draw(rng)
    pair = WeightedPair(actual, first, second, weights.of(actual, rng), labels_of(cell))
    found = compare_weighted(pair)
    counted = pair.sides[0]
    suite = evaluate_stack(counted.sums, ordinal=False, names=counted.labels.names)
    intervals = weighted_suite_intervals(counted, suite, seed=0).aggregate
    truth = true_values(cell, weights)
    return (
        float(any(each.outcome.is_separable for each in found.metrics)),
        float(any(each.outcome.is_separable for each in found.classes["recall"])),
        *(_covers(intervals[key].bounds.at(), truth[key]) for key in COVERED),
    )


def _covers(ends: tuple[float | None, float | None], true: float) -> float:
    low, high = ends
    return np.nan if low is None or high is None else float(low <= true <= high)


def true_values(cell: Cell, weights: Weights) -> dict[str, float]:
    """The metrics of the population that the weights represent."""
    shares = np.asarray(TRUE_SHARES if weights.by_class else cell.shares)
    matrix = population(cell, shares)
    suite = evaluate_stack(np.round(matrix * 1e9).astype(np.int64), ordinal=False).aggregate
    return {key: float(suite[key].at().value or 0.0) for key in COVERED}


SETTINGS = [
    (tied(n, shares, 2), Weights(by_class=False))
    for n in (300, 1_000, 10_000)
    for shares in (even(2), rare(0.1), even(5))
] + [(tied(n, even(2), 2), Weights(by_class=True)) for n in (300, 1_000, 10_000)]


def report_weights(report: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    rows, whole = [], []
    for weights in (Weights(by_class=False), Weights(by_class=True)):
        cells = [cell for cell, of in SETTINGS if of == weights]
        simulate = partial(ties, weights=weights)
        for cell, found in run_cells(pool, simulate, cells, SETS_OF_A_PAIR * wanted):
            rates = percent(np.nanmean(found, axis=0))
            kind = "by class" if weights.by_class else "lognormal"
            row: dict[str, object] = {"cell": f"{name_of(cell)}, {kind}", "sets": len(found)}
            columns = ("any metric", "any recall", *(f"{key} covered" for key in COVERED))
            rows.append(row | dict(zip(columns, rates, strict=True)))
            whole.append(found)
    pooled = np.concatenate(whole)
    for name, at in (("primary metric", 0), ("recall", 1)):
        report.goal(
            f"two equally good weighted runs: any {name} called different, %",
            measured=100 * float(pooled[:, at].mean()),
            wanted=allowed(len(pooled)),
            at_least=False,
        )
    for at, key in enumerate(COVERED, start=2):
        report.goal(
            f"intervals of weighted {key} that cover the true value, %",
            measured=100 * float(np.nanmean(pooled[:, at])),
            wanted=round(100 * (COVERAGE - 2 * sqrt(COVERAGE * (1 - COVERAGE) / len(pooled))), 2),
            at_least=True,
        )
    report.tables["weights"] = rows


def scored(n: int, rng: Rng) -> Forecasts:
    """Normal scores of both classes, 1.5 apart, as probabilities; 3 of 10 are positive."""
    actual = (rng.random(n) < 0.3).astype(np.uint8)
    p = 1 / (1 + np.exp(0.9 - 1.5 * actual - rng.normal(size=n)))
    return Forecasts(actual, p[:, np.newaxis], n_classes=2, positive=1)


def report_scores(report: Report, wanted: int) -> None:
    """How often intervals of scores with lognormal weights cover the value of the population."""
    truth = score_metrics(scored(2_000_000, np.random.default_rng(0)))
    rows = []
    for n in (300, 1_000):
        held = []
        for seed in range(SETS_OF_A_PAIR * wanted):
            rng = np.random.default_rng((n, seed))
            drawn = WeightedForecasts.of(scored(n, rng), rng.lognormal(0.0, 1.0, n))
            found = weighted_score_metrics(drawn)
            ends = [(found[key].ci_low, found[key].ci_high) for key in SCORED]
            true = [float(truth[key].value or 0.0) for key in SCORED]
            held.append([_covers(each, value) for each, value in zip(ends, true, strict=True)])
        rates = percent(np.nanmean(np.array(held), axis=0))
        row: dict[str, object] = {"cell": f"n {n:,}, lognormal", "sets": len(held)}
        rows.append(row | dict(zip((f"{key} covered" for key in SCORED), rates, strict=True)))
    report.tables["weights of scores"] = rows


OF_CLASSES = ("recall", "specificity", "precision", "f1")
CLASSES = tuple(
    (Cell(n, even(n_classes), ((recall,) * n_classes,)), by_class)
    for n, n_classes in ((300, 5), (1_000, 30), (4_000, 100))
    for recall in (0.8, 0.97)
    for by_class in (False, True)
)
"""With weights by class, a balanced test set represents shares of class i in proportion to 1/i."""


def classes_covered(cell: Cell, rng: Rng, *, by_class: bool) -> tuple[float, ...]:
    """The shares of the classes whose intervals of a metric cover the true value."""
    actual, (predicted,) = cell.draw(rng)
    ranks = np.arange(1, cell.n_classes + 1)
    shares = 1 / ranks / (1 / ranks).sum() if by_class else np.asarray(cell.shares)
    weight = shares[actual] * cell.n_classes if by_class else rng.lognormal(0.0, 1.0, cell.n)
    counted = WeightedCounts.of_samples(actual, predicted, weight, labels_of(cell))
    suite = evaluate_stack(counted.sums, ordinal=False, names=counted.labels.names)
    found = weighted_suite_intervals(counted, suite, seed=0).per_class
    true = evaluate_stack(
        np.round(population(cell, shares) * 1e12).astype(np.int64), ordinal=False
    ).per_class
    return tuple(
        float(
            np.nanmean(
                [
                    _covers(found[key].bounds.at(code), float(true[key].at(code).value or 0.0))
                    for code in range(cell.n_classes)
                ]
            )
        )
        for key in OF_CLASSES
    )


def population(cell: Cell, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix of shares (K, K) that a run with this many samples is drawn from."""
    recalls = np.asarray(cell.recalls[0])
    n_classes = cell.n_classes
    matrix = np.outer(shares * (1 - recalls), np.full(n_classes, 1 / (n_classes - 1)))
    np.fill_diagonal(matrix, shares * recalls)
    return matrix


def report_classes(report: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    """How often intervals of the metrics of single classes cover those of the population."""
    rows = []
    for by_class in (False, True):
        cells = [cell for cell, of in CLASSES if of == by_class]
        simulate = partial(classes_covered, by_class=by_class)
        for cell, found in run_cells(pool, simulate, cells, SETS_OF_A_PAIR * wanted // 5):
            kind = "by class" if by_class else "lognormal"
            name = f"n {cell.n:,}, K {cell.n_classes}, recall {cell.recalls[0][0]}, {kind}"
            rates = percent(np.nanmean(found, axis=0))
            names = (f"{key} covered" for key in OF_CLASSES)
            rows.append({"cell": name, "sets": len(found)} | dict(zip(names, rates, strict=True)))
    for key in OF_CLASSES:
        covered = [float(str(row[f"{key} covered"])) for row in rows]
        report.goal(
            f"intervals of weighted {key} of a class that cover, least of the cells, %",
            measured=min(covered),
            wanted=92,
            at_least=True,
        )
    report.tables["weights of classes"] = rows


OF_THE_REST = 400
"""Samples of the class that the flagged one is compared with."""
SIGMAS = (0.0, 1.0, 1.5)
UP_TO_SIGMA = 1.0
"""Goals are for weights up to this sigma; rows beyond it show where effective sizes fail."""


def flags(n: int, sigma: float, gap: float, rng: Rng) -> tuple[bool, bool]:
    """Whether a gap of recall is called proved, and whether a class is flagged as failing."""
    actual = np.repeat(np.array([0, 1], np.uint8), [OF_THE_REST, n])
    is_right = rng.random(len(actual)) < np.where(actual == 0, 0.9, 0.9 - gap)
    weight = rng.lognormal(0.0, sigma, len(actual))
    predicted = np.where(is_right, actual, 1 - actual)
    found = assess(WeightedCounts.of_samples(actual, predicted, weight, TWO))
    return bool(found.badge), any(each.rule in FAILING for each in found.verdicts)


def report_flags(report: Report, wanted: int) -> None:
    """Gaps of exactly the size that a flag requires, and classes as good as the rest."""
    rows, proved, blamed = [], [], []
    n_sets = SETS_OF_A_PAIR * wanted
    for sigma in SIGMAS:
        for n in (40, 80, 200):
            rng = np.random.default_rng((n, int(sigma * 10)))
            gaps = [flags(n, sigma, 0.2, rng)[0] for _ in range(n_sets)]
            equals = [flags(n, sigma, 0.0, rng)[1] for _ in range(n_sets)]
            cell = f"{n} of {n + OF_THE_REST} samples, sigma {sigma:g}"
            rates = percent(np.array([np.mean(gaps), np.mean(equals)]))
            names = ("gap of 20 points proved", "equal class flagged")
            rows.append({"cell": cell, "sets": n_sets} | dict(zip(names, rates, strict=True)))
            if sigma <= UP_TO_SIGMA:
                proved += gaps
                blamed += equals
    for name, found, level in (
        ("a gap of exactly 20 points called proved", proved, 5),
        ("a class as good as the rest flagged", blamed, 1),
    ):
        share = level / 100
        report.goal(
            f"flags of weights up to sigma {UP_TO_SIGMA:g}: {name}, %",
            measured=100 * float(np.mean(found)),
            wanted=round(level + 200 * sqrt(share * (1 - share) / len(found)), 2),
            at_least=False,
        )
    report.tables["weights of flags"] = rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, help="data sets of each cell, without writing")
    parser.add_argument("--full", action="store_true", help="ten times as many data sets")
    options = parser.parse_args()
    wanted = options.sets or SETS // 3 * (10 if options.full else 1)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        report = Report("claims-weights", libraries=("numpy", "scipy"))
        report.fact("data sets of a cell", SETS_OF_A_PAIR * wanted)
        report_weights(report, pool, wanted)
        report_classes(report, pool, wanted)
        report_scores(report, wanted)
        report_flags(report, wanted)
        if options.sets is None:
            path = report.save()
            write_page(json.loads(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
