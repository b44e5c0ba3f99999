"""How often a claim about runs is wrong, and how often it is made when it is right.

Runs are drawn so that the truth is known: "ties" are exchangeable runs, each of which shares 60 %
of its random numbers with the others, so every metric is truly equal and every claim is false. All
decisions are made by functions of the library itself. Rates are pooled over sizes and shares of
the rare class; the table of each cell goes into docs/contributing/claims.md.

    python benchmarks/claims.py                about ten minutes on two cores
    python benchmarks/claims.py --only claims-slices   about two minutes, only runs by slice
    python benchmarks/claims.py --sets 10      a look; writes nothing
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from harness import Report
from numpy.typing import NDArray
from result_table import put_between, result_table

from offdiag.comparison.by_slice import SliceChanges, compare_parts
from offdiag.comparison.churn import Churn, Parts, churn_by_class
from offdiag.comparison.differences import HEADLINE
from offdiag.comparison.many import ManyComparison, compare_many
from offdiag.comparison.pair import compare_paired
from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.many_runs.best_runs import best_of_many
from offdiag.metrics.many_runs.methods import (
    Moments,
    difference_of_methods,
    mean_of_folds,
    mean_of_seeds,
    moments_of,
)
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.paired.joint_counts import joint_counts
from offdiag.metrics.slices.counts import MIN_SAMPLES
from offdiag.metrics.suite import evaluate_stack
from offdiag.reports.alerts import ODDS, odds_of

PAGE = Path(__file__).parents[1] / "docs" / "contributing" / "claims.md"
SETS = 150
"""Data sets per cell; fewer for the largest cells, see `Cell.n_sets`."""
SETS_OF_A_PAIR = 10
"""Factor for pairs: two runs are judged quickly, and most comparisons are of two."""
LEVEL = 0.05
SHARED = 0.6
SIZES, SHARES, RUNS = (100, 1_000, 10_000), (0.5, 0.1, 0.02), (2, 3, 5, 10, 20)
COVERED = ("balanced_accuracy", "macro_f1", "mcc", "cohen_kappa")
COVERAGE = 0.93
"""The coverage required of every interval, minus two standard errors of the simulation."""
FEWEST_OF_A_CLASS = 5

Codes = NDArray[np.uint8]
Rng = np.random.Generator


@dataclass(frozen=True)
class Cell:
    """A setting: samples, shares of the classes, and the recall of each class by each run."""

    n: int
    shares: tuple[float, ...]
    recalls: tuple[tuple[float, ...], ...]

    @property
    def n_classes(self) -> int:
        return len(self.shares)

    def n_sets(self, wanted: int) -> int:
        """Data sets to draw: as many as wanted, fewer if each takes long."""
        work = self.n * len(self.recalls) ** 2
        return max(wanted // 3, min(wanted, wanted * 500_000 // work))

    def draw(self, rng: Rng) -> tuple[Codes, list[Codes]]:
        """Actual codes, and those predicted by each run; errors fall on any other class."""
        actual = rng.choice(self.n_classes, self.n, p=self.shares).astype(np.uint8)
        common = rng.random((2, self.n))
        runs = []
        for recalls in self.recalls:
            is_shared = rng.random(self.n) < SHARED
            luck, place = np.where(is_shared, common, rng.random((2, self.n)))
            wrong = (actual + 1 + (place * (self.n_classes - 1)).astype(np.uint8)) % self.n_classes
            runs.append(
                np.where(luck < np.asarray(recalls)[actual], actual, wrong).astype(np.uint8)
            )
        return actual, runs


def labels_of(cell: Cell) -> LabelSet:
    return LabelSet(tuple(f"c{code:02}" for code in range(cell.n_classes)))


def rare(share: float) -> tuple[float, ...]:
    return (1 - share, share)


def even(n_classes: int) -> tuple[float, ...]:
    return (1 / n_classes,) * n_classes


def tail(n_classes: int, share: float) -> tuple[float, ...]:
    """Equal shares for all classes but the last."""
    return (*((1 - share) / (n_classes - 1),) * (n_classes - 1), share)


def tied(n: int, shares: tuple[float, ...], n_runs: int, recall: float = 0.85) -> Cell:
    return Cell(n, shares, ((recall,) * len(shares),) * n_runs)


# --- sets of runs -----------------------------------------------------------------------------


def behind(found: ManyComparison, key: str) -> list[bool]:
    return [place.rank_status is RankStatus.BEHIND for place in found.places[key]]


def many_ties(cell: Cell, rng: Rng) -> tuple[bool, ...]:
    """Whether any run is called worse by each metric, by any of them, and by any recall."""
    actual, runs = cell.draw(rng)
    found = compare_many(actual, runs, labels=labels_of(cell))
    by_metric = [any(behind(found, key)) for key in HEADLINE]
    by_class = any(
        place.rank_status is RankStatus.BEHIND for places in found.recall for place in places
    )
    return (*by_metric, any(by_metric), by_class)


def many_differences(cell: Cell, rng: Rng) -> tuple[float, ...]:
    """Shares of the truly worse half that are called worse, by the library and by Holm over all
    pairs, and whether one of the equally best is."""
    actual, runs = cell.draw(rng)
    found = compare_many(actual, runs, labels=labels_of(cell))
    n_best = len(runs) // 2
    called = behind(found, "overall_accuracy")
    by_holm = set()
    for pair in found.pairs:
        if pair.p_adjusted < LEVEL:
            by_holm.add(pair.second if pair.only_first > pair.only_second else pair.first)
    worse = range(n_best, len(runs))
    return (
        float(np.mean(called[n_best:])),
        float(np.mean([run in by_holm for run in worse])),
        float(any(called[:n_best])),
    )


# --- two runs ---------------------------------------------------------------------------------


def pair_ties(cell: Cell, rng: Rng) -> tuple[bool, bool]:
    """Whether any primary metric is called different, and any recall of a class."""
    actual, (first, second) = cell.draw(rng)
    joint = joint_counts(actual=actual, first=first, second=second, labels=labels_of(cell))
    found = compare_paired(joint)
    return (
        any(each.outcome.is_separable for each in found.metrics),
        any(each.outcome.is_separable for each in found.classes["recall"]),
    )


SLICES = (3, 4)
"""Slice columns of a data set, and values of each column."""


def slice_ties(cell: Cell, rng: Rng) -> tuple[bool, bool, bool]:
    """Whether two equally good runs are called different on any slice or overall, on any class of
    a slice, and on any of these by uncorrected tests, each alone."""
    actual, (first, second) = cell.draw(rng)
    found = by_random_slices(actual, first, second, cell.n_classes, rng)
    parts = (found.whole, *found.slices)
    return (
        any(part.change.outcome.is_separable for part in parts),
        any(part.change.outcome.is_separable for part in found.classes),
        any((part.change.p or 1.0) < LEVEL for part in (*parts, *found.classes)),
    )


def by_random_slices(
    actual: Codes, first: Codes, second: Codes, n_classes: int, rng: Rng
) -> SliceChanges:
    n_columns, n_values = SLICES
    parts: dict[str, Churn] = {}
    classes: dict[tuple[str, str], Churn] = {}

    def count(members: NDArray[np.bool_]) -> Parts:
        true = actual[members]
        right = (first[members] == true, second[members] == true)
        return churn_by_class(true, *right, n_classes)

    for column in range(n_columns):
        values = rng.choice(n_values, len(actual), p=(0.4, 0.3, 0.2, 0.1))
        for value in range(n_values):
            counts, of_classes = count(values == value)
            if counts.total < MIN_SAMPLES:
                continue
            name = f"column {column}={value}"
            parts[name] = counts
            classes |= {
                (name, str(code)): each
                for code, each in enumerate(of_classes)
                if each.total >= MIN_SAMPLES
            }
    whole, _ = count(np.ones(len(actual), np.bool_))
    return compare_parts(whole, parts, classes, too_small={}, n_suppressed=0, min_size=MIN_SAMPLES)


# --- methods of several seeds --------------------------------------------------------------------

METHODS = 3
"""Equally good methods of a data set; each has a third of the runs of its cell."""
OF_METHODS = ("overall_accuracy", "balanced_accuracy", "macro_f1")


def method_ties(cell: Cell, rng: Rng) -> tuple[float, ...]:
    """Whether a method is called worse than the best by each metric, and whether intervals cover.

    The intervals are those of the first method's balanced accuracy: of the library, and by its
    seeds alone.
    """
    mean = cell.recalls[0][0]
    luck = rng.normal(mean, SEED_SPREAD, (len(cell.recalls), cell.n_classes)).clip(0, 1)
    actual, predicted = Cell(cell.n, cell.shares, tuple(map(tuple, luck.tolist()))).draw(rng)
    runs = PairedRuns(actual, tuple(predicted), labels_of(cell))
    n_seeds = runs.n_runs // METHODS
    method_of = [run // n_seeds for run in range(runs.n_runs)]
    suite = evaluate_stack(np.stack([each.counts for each in runs.matrices]), ordinal=False)
    called: list[float] = []
    covers: list[float] = [np.nan, np.nan]
    for key in OF_METHODS:
        moments = moments_of(runs, method_of, key)
        values = suite.aggregate[key].value.reshape(METHODS, n_seeds)
        called.append(np.nan if moments is None else float(_any_behind(values, moments)))
        if moments is not None and key == "balanced_accuracy":
            shared = moments.shared(0, n_seeds)
            ends = [mean_of_seeds(values[0].tolist(), each).ends() for each in (shared, 0.0)]
            covers = [np.nan if at is None else float(at[0] <= mean <= at[1]) for at in ends]
    return (*called, *covers)


SEED_SPREAD = 0.02
"""Standard deviation of the recall of a class over the seeds of a method."""


def _any_behind(values: NDArray[np.float64], moments: Moments) -> bool:
    best, n_seeds = int(values.mean(axis=-1).argmax()), values.shape[-1]
    n_pairs = METHODS * (METHODS - 1) // 2
    for method in range(METHODS):
        found = difference_of_methods(
            values[method].tolist(),
            values[best].tolist(),
            shared=(moments.shared(method, n_seeds), moments.shared(best, n_seeds)),
            in_common=float(moments.covariance[method, best]),
        )
        p = found.p(n_compared=n_pairs)
        if method != best and p is not None and p <= LEVEL:
            return True
    return False


FEATURES, SHIFT = 5, 0.7
"""Features in each of two views of the samples, and how far apart the classes are in each."""


def fold_ties(cell: Cell, rng: Rng) -> tuple[bool, bool]:
    """Whether two equally good learners are called different over the folds of a cross-validation.

    By the library, and by a t test as if folds were independent. Each learner predicts the class
    with the nearer mean, by features of its own that are equally informative.
    """
    n_folds = len(cell.recalls)
    actual = rng.choice(2, cell.n, p=cell.shares)
    views = rng.normal(size=(2, cell.n, FEATURES)) + SHIFT * actual[:, np.newaxis]
    fold = rng.permutation(cell.n) % n_folds
    apart = []
    for each in range(n_folds):
        train, test = fold != each, fold == each
        right = []
        for view in views:
            means = [view[train & (actual == code)].mean(axis=0) for code in (0, 1)]
            distances = [((view[test] - mean) ** 2).sum(axis=-1) for mean in means]
            right.append(float(((distances[1] < distances[0]) == actual[test]).mean()))
        apart.append(right[0] - right[1])
    corrected, plain = (
        p is not None and p <= LEVEL
        for p in (mean_of_folds(apart, ratio).p() for ratio in (1 / (n_folds - 1), 0.0))
    )
    return corrected, plain


# --- one run ----------------------------------------------------------------------------------


def intervals(cell: Cell, rng: Rng) -> tuple[float, ...]:
    """Whether each interval covers the true value; NaN with fewer than five samples of a class."""
    actual, (predicted,) = cell.draw(rng)
    counts = np.zeros((cell.n_classes,) * 2, np.int64)
    np.add.at(counts, (actual, predicted), 1)
    if counts.sum(axis=1).min() < FEWEST_OF_A_CLASS:
        return (np.nan,) * len(COVERED)
    matrix = ConfusionMatrix(counts, labels_of(cell))
    found, truth = suite_intervals(matrix, seed=0, replicates=1_000).aggregate, true_values(cell)
    covered = []
    for key in COVERED:
        value = found[key].at().around(evaluate_stack(counts, ordinal=False).aggregate[key].at())
        low, high = value.ci_low, value.ci_high
        if low is None or high is None:
            covered.append(np.nan)
        else:
            covered.append(float(low <= truth[key] <= high))
    return tuple(covered)


def true_values(cell: Cell) -> dict[str, float]:
    suite = evaluate_stack(expected_counts(cell), ordinal=False).aggregate
    return {key: float(suite[key].value) for key in COVERED}


def expected_counts(cell: Cell) -> NDArray[np.int64]:
    """The matrix (K, K) of the first run expected of 10^12 samples."""
    recall = np.asarray(cell.recalls[0])
    rows = np.full((cell.n_classes,) * 2, np.nan)
    for code, value in enumerate(recall):
        rows[code] = (1 - value) / (cell.n_classes - 1)
        rows[code, code] = value
    expected = np.rint(rows * np.asarray(cell.shares)[:, None] * 1e12)
    return np.asarray(expected, np.int64)


# --- the best of many, and alerts --------------------------------------------------------------


def selection(cell: Cell, rng: Rng) -> tuple[float, float]:
    """How far the highest balanced accuracy and the corrected one exceed the true value."""

    def score(stack: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        return {"ba": evaluate_stack(stack, ordinal=False).aggregate["balanced_accuracy"].value}

    actual, predicted = cell.draw(rng)
    runs = PairedRuns(actual, tuple(predicted), labels_of(cell))
    found = best_of_many(runs, score, seed=0)["ba"]
    truth = float(np.mean(cell.recalls[0]))
    corrected = np.nan if found.corrected.value is None else found.corrected.value
    return found.value - truth, corrected - truth


def year(cell: Cell, rng: Rng) -> tuple[bool]:
    """Whether 365 editions of n new samples, with a share exactly at its floor, raise an alert."""
    floor = cell.recalls[0][0]
    hits = rng.binomial(cell.n, floor, 365)
    return (bool(odds_of(hits.tolist(), [cell.n] * 365, floor=floor).max() >= ODDS),)


# --- running ------------------------------------------------------------------------------------

Simulate = Callable[[Cell, Rng], tuple[float, ...]]


def simulated(simulate: Simulate, cell: Cell, n_sets: int) -> NDArray[np.float64]:
    """One row per data set."""
    rng = np.random.default_rng([n_sets, cell.n, len(cell.recalls), cell.n_classes])
    return np.array([simulate(cell, rng) for _ in range(n_sets)], np.float64)


def _job(arguments: tuple[Simulate, Cell, int]) -> NDArray[np.float64]:
    return simulated(*arguments)


def run_cells(
    pool: ProcessPoolExecutor, simulate: Simulate, cells: Sequence[Cell], wanted: int
) -> Iterator[tuple[Cell, NDArray[np.float64]]]:
    jobs = [(simulate, cell, cell.n_sets(wanted)) for cell in cells]
    yield from zip(cells, pool.map(_job, jobs), strict=True)


def allowed(n_sets: int) -> float:
    """The level plus two standard errors, in percent."""
    return round(100 * (LEVEL + 2 * sqrt(LEVEL * (1 - LEVEL) / n_sets)), 2)


def hold_level(report: Report, name: str, claimed: NDArray[np.float64]) -> None:
    """Require that a claim, 1 or 0 for each of n data sets, (n,), is as rare as the level says."""
    report.goal(
        f"{name}, %",
        measured=round(100 * float(np.nanmean(claimed)), 2),
        wanted=allowed(len(claimed)),
        at_least=False,
    )


def name_of(cell: Cell) -> str:
    rarest = min(cell.shares)
    return f"n {cell.n:,}, K {cell.n_classes}, rarest {rarest:.2g}"


def percent(rates: NDArray[np.float64]) -> list[float]:
    return [round(100 * float(rate), 1) for rate in rates]


def report_sets(report: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    grid = list(product(SIZES, map(rare, SHARES)))
    further = [(1_000, tail(5, 0.02)), (300, even(5)), (1_000, even(20))]
    rows = []
    for n_runs in RUNS:
        cells = [tied(n, shares, n_runs) for n, shares in (*grid, *further)]
        whole = []
        for cell, found in run_cells(pool, many_ties, cells, wanted):
            rates = percent(found.mean(axis=0))
            columns = dict(zip((*HEADLINE, "all five", "recall"), rates, strict=True))
            rows.append({"cell": f"{name_of(cell)}, {n_runs} runs", "sets": len(found), **columns})
            whole.append(found)
        pooled = np.concatenate(whole)
        for name, at in (("all primary metrics", -2), ("recall of all classes", -1)):
            report.goal(
                f"{n_runs} equally good runs: any called worse, {name}, %",
                measured=100 * float(pooled[:, at].mean()),
                wanted=allowed(len(pooled)),
                at_least=False,
            )
    report.tables["ties"] = rows


def report_power(report: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    cells = [
        Cell(1_000, rare(0.5), (((0.85,) * 2,) * 5 + ((0.82,) * 2,) * 5)),
        Cell(1_000, rare(0.5), (((0.85,) * 2,) * 10 + ((0.81,) * 2,) * 10)),
        Cell(1_000, even(5), (((0.85,) * 5,) * 5 + ((0.81,) * 5,) * 5)),
    ]
    for cell, found in run_cells(pool, many_differences, cells, wanted):
        ours, holm, false = found.mean(axis=0)
        name = f"{len(cell.recalls)} runs, half worse, K {cell.n_classes}"
        report.goal(
            f"power beside Holm over all pairs, {name}", measured=float(ours / holm), wanted=1.0
        )
        report.goal(
            f"one of the best called worse, {name}, %",
            measured=100 * float(false),
            wanted=allowed(len(found)),
            at_least=False,
        )


def report_pairs(report: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    settings = [*product(SIZES, map(rare, SHARES)), (100, even(5)), (1_000, even(5)),
                (1_000, tail(5, 0.02)), (1_000, even(20))]  # fmt: skip
    cells = [tied(n, shares, 2) for n, shares in settings]
    rows, whole = [], []
    for cell, found in run_cells(pool, pair_ties, cells, SETS_OF_A_PAIR * wanted):
        metrics, classes = percent(found.mean(axis=0))
        rows.append({"cell": name_of(cell), "sets": len(found), "metric": metrics,
                     "class": classes})  # fmt: skip
        whole.append(found)
    pooled = np.concatenate(whole)
    for name, at in (("primary metric", 0), ("class", 1)):
        report.goal(
            f"two equally good runs: any {name} called different, %",
            measured=100 * float(pooled[:, at].mean()),
            wanted=allowed(len(pooled)),
            at_least=False,
        )
    report.tables["pairs"] = rows


def report_slices(report: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    settings = product(SIZES, (even(2), even(5)), (0.85, 0.97))
    cells = [tied(n, shares, 2, recall) for n, shares, recall in settings]
    rows, rates, whole = [], [], []
    for cell, found in run_cells(pool, slice_ties, cells, SETS_OF_A_PAIR * wanted):
        called = np.logical_or(found[:, 0], found[:, 1])
        slices, classes, alone = percent(found.mean(axis=0))
        name = f"n {cell.n:,}, {cell.n_classes} classes, accuracy {cell.recalls[0][0]:g}"
        (any_called,) = percent(called[:, np.newaxis].mean(axis=0))
        rows.append({"cell": name, "sets": len(found), "any": any_called, "slice": slices,
                     "class": classes, "each test alone": alone})  # fmt: skip
        rates.append(100 * float(called.mean()))
        whole.append(called)
    pooled = np.concatenate(whole)
    n_columns, n_values = SLICES
    report.goal(
        f"two equally good runs: the whole, any of {n_columns * n_values} slices or any class of "
        "these called different, %",
        measured=100 * float(pooled.mean()),
        wanted=allowed(len(pooled)),
        at_least=False,
    )
    # The cells are equally large; a single bad one would hide among the others.
    report.goal(
        "two equally good runs by slice: the highest cell, %",
        measured=max(rates),
        wanted=allowed(len(whole[0])),
        at_least=False,
    )
    report.tables["slices"] = rows


def report_methods(report: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    settings = product((200, 1_000, 10_000), map(rare, (0.5, 0.1)), (3, 5, 10))
    cells = [tied(n, shares, METHODS * n_seeds) for n, shares, n_seeds in settings]
    rows, whole = [], []
    for cell, found in run_cells(pool, method_ties, cells, SETS_OF_A_PAIR * wanted):
        rates = percent(np.nanmean(found, axis=0))
        columns = (*OF_METHODS, "covered", "covered by seeds alone")
        n_seeds = len(cell.recalls) // METHODS
        rows.append({"cell": f"{name_of(cell)}, {n_seeds} seeds", "sets": len(found),
                     **dict(zip(columns, rates, strict=True))})  # fmt: skip
        whole.append(found)
    pooled = np.concatenate(whole)
    for at, key in enumerate(OF_METHODS):
        report.goal(
            f"{METHODS} equally good methods: any called worse by {key}, %",
            measured=100 * float(np.nanmean(pooled[:, at])),
            wanted=allowed(len(pooled)),
            at_least=False,
        )
    report.goal(
        "mean of a method: share of intervals that cover the truth",
        measured=round(float(np.nanmean(pooled[:, len(OF_METHODS)])), 3),
        wanted=round(COVERAGE - 2 * sqrt(COVERAGE * (1 - COVERAGE) / len(pooled)), 3),
    )
    report.tables["methods"] = rows


def report_folds(report: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    cells = [tied(n, even(2), n_folds) for n, n_folds in product((100, 300, 1_000), (5, 10))]
    rows, whole = [], []
    for cell, found in run_cells(pool, fold_ties, cells, SETS_OF_A_PAIR * wanted):
        corrected, plain = percent(found.mean(axis=0))
        rows.append({"cell": f"n {cell.n:,}, {len(cell.recalls)} folds", "sets": len(found),
                     "corrected": corrected, "plain t": plain})  # fmt: skip
        whole.append(found)
    pooled = np.concatenate(whole)
    report.goal(
        "two equally good learners: called different over folds, %",
        measured=100 * float(pooled[:, 0].mean()),
        wanted=allowed(len(pooled)),
        at_least=False,
    )
    report.tables["folds"] = rows


def report_intervals(report: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    cells = [
        Cell(100, rare(0.1), ((0.9, 0.7),)),
        Cell(200, rare(0.05), ((0.9, 0.7),)),
        Cell(300, rare(0.05), ((0.99, 0.79),)),
        Cell(1_000, rare(0.02), ((0.95, 0.7),)),
        Cell(1_000, rare(0.1), ((0.9, 0.7),)),
        Cell(100, even(3), ((0.8,) * 3,)),
        Cell(100, even(5), ((0.8,) * 5,)),
        Cell(300, tail(5, 0.05), ((0.8,) * 5,)),
        Cell(1_000, even(20), ((0.8,) * 20,)),
    ]
    rows: list[dict[str, Any]] = []
    for cell, found in run_cells(pool, intervals, cells, 2 * wanted):
        counted = int((~np.isnan(found[:, 0])).sum())
        rates = np.nanmean(found, axis=0)
        covered = {key: round(float(rate), 3) for key, rate in zip(COVERED, rates, strict=True)}
        rows.append({"cell": name_of(cell), "sets": counted, **covered})
        report.goal(
            f"lowest coverage of four intervals, {name_of(cell)}",
            measured=round(float(rates.min()), 3),
            wanted=round(COVERAGE - 2 * sqrt(COVERAGE * (1 - COVERAGE) / counted), 3),
        )
    report.tables["coverage"] = rows


def report_selection(report: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    cells = [tied(200, rare(0.5), 10), tied(1_000, rare(0.5), 50), tied(1_000, rare(0.1), 50)]
    for cell, found in run_cells(pool, selection, cells, wanted // 2):
        raw, corrected = np.nanmean(found, axis=0)
        name = f"highest of {len(cell.recalls)}, {name_of(cell)}"
        report.fact(f"{name}: points above its true value", round(100 * float(raw), 2))
        report.goal(
            f"{name}: points off after the correction",
            measured=100 * abs(float(corrected)),
            wanted=0.5,
            at_least=False,
        )


def report_alerts(report: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    cells = [tied(2_000, rare(0.5), 1, recall=0.9)]
    for _, found in run_cells(pool, year, cells, 4 * wanted):
        report.goal(
            "years of 365 editions without a change that raise an alert, %",
            measured=100 * float(found.mean()),
            wanted=100 * LEVEL,
            at_least=False,
        )


RECORDS = {
    "claims": (report_sets, report_power, report_pairs, report_intervals, report_selection,
               report_alerts),
    "claims-slices": (report_slices,),
    "claims-methods": (report_methods, report_folds),
}  # fmt: skip
"""Sections that are measured and saved together, by the name of their result."""


def write_page(result: dict[str, Any]) -> None:
    """Put goals and cells of a result into its place in docs/contributing/claims.md."""
    put_between(PAGE, *place_of(result["name"]), page_text(result))


def place_of(name: str) -> tuple[str, str]:
    """The lines of the page before and after a result."""
    return f"<!-- The result {name} begins. -->", f"<!-- The result {name} ends. -->"


def page_text(result: dict[str, Any]) -> str:
    """The text of the page about a result: figures and goals, then the tables of cells."""
    parts = [result_table(result)]
    for title, rows in result["tables"].items():
        columns = list(rows[0])
        parts += [
            f"\n**{TITLES[title]}**\n",
            f"| {' | '.join(columns)} |",
            f"| --- |{' --: |' * (len(columns) - 1)}",
            *(f"| {' | '.join(str(row[each]) for each in columns)} |" for row in rows),
        ]
    return "\n".join(parts)


TITLES = {
    "ties": "Equally good runs of which any is called worse, percent of data sets",
    "pairs": "Two equally good runs: any primary metric, any class called different, percent",
    "slices": "Two equally good runs: the whole or any of 12 slices, any class of a slice called "
    "different, percent",
    "coverage": "Share of intervals that cover the true value",
    "weights": "Two equally good weighted runs called different, intervals that cover, percent",
    "weights of classes": "Intervals of single classes of weighted runs that cover, percent",
    "weights of scores": "Intervals of scores of weighted examples that cover, percent",
    "weights of flags": "Flags of weighted runs where no class is below what a flag asks, percent",
    "set pairs": "Two equally good multi-label runs called different, percent of data sets",
    "set ties": "Five equally good multi-label runs of which any is called worse, percent",
    "confused": "Errors of labels that depend on no other label: any sentence, percent",
    "few costs": "Two equally good runs of which one is said to cost less, percent of data sets",
    "few others": "Two equally good runs called different by further metrics, percent",
    "few areas": "Two equally good runs, area under the ROC curve called different, percent",
    "few groups": "Equally good groups: one called worse, a gap proved, percent of data sets",
    "few families": "Copies of two equally good runs, accuracy called different, percent",
    "few apart": "Two equally good runs on samples of their own called different, percent",
    "few unlike": "One run predicts a rare class seldom, the other often, or each is better in "
    "another class: 95 % intervals of the difference that miss it, percent",
    "few unlike apart": "The same of runs on different examples: 95 % intervals of the difference "
    "miss it, percent",
    "few unlike of more": "Three runs or more that find a rare class seldom or often, or are "
    "better in others: a 95 % interval of two, all held together, misses the difference, percent",
    "set differences": "Two multi-label runs, by their recall of a rare label: 95 % intervals "
    "of the difference that miss it, percent",
    "chosen thresholds": "The threshold in use is the best: interval of the change to the "
    "cheapest one, and costs below its true one, percent",
    "chosen runs": "Best runs of two equally good models, one is said to lead, percent",
    "chosen champions": "Equally good runs, gates against the champion, which winners become, "
    "percent",
    "intervals of sets": "Intervals of multi-label runs that cover the true value, percent",
    "intervals of scores": "Intervals of calibrated scores that cover the true value, and scores "
    "called miscalibrated, percent",
    "intervals of matrices": "Functions of a confusion matrix and costs: intervals that cover the "
    "true value, percent",
    "averages of weighted classes": "Averages of weighted runs: intervals that cover the true "
    "value, percent",
    "costs beside a constant": "Runs that cost less or more than the best constant prediction: "
    "as much on these examples, flagged by F11, percent",
    "few costly errors": "Two classes with few costly errors: intervals that cover the true "
    "value, percent",
    "costs at declared shares": "Costs at declared shares of the classes: intervals that cover "
    "the true value, percent",
    "costs of many classes": "Costs that differ by orders of magnitude: intervals that cover the "
    "true value, percent",
    "intervals with rare classes": "Data sets with a class of one to four samples: intervals that "
    "cover the true value, percent",
    "intervals with more than expected": "Data sets with five samples of a class of which two are "
    "expected: intervals that cover the true value, percent",
    "intervals of areas": "Areas of scores of few values: intervals that cover, percent",
    "intervals of parts": "Parts of the Brier score: intervals that cover, percent; those "
    "without ends are of data sets in which most examples have scores of their own",
    "a run changed since the edition": "Equally good runs of which a report says that one changed "
    "since the run of its name before, percent",
    "a run is worse than the best before it": "Equally good runs of a model of which one is "
    "called worse than the best before it, percent",
    "an alternative finds more, by p": "Equally good runs of which one is said to find more of a "
    "class than the flagged one, percent",
    "flags beside few others": "Two classes, one with few examples: F4 claims a gap, percent",
    "a run changed with more labels": "Equally good runs of which one is said to have changed "
    "when labels were added, percent",
    "chosen baselines": "Equally good runs with a drop of recall (F14) against a baseline, "
    "percent",
    "a drop at any visit": "60 equally good runs of a model, at 12 visits: the newest run is "
    "called worse than the best before it, percent",
    "folds": "Two equally good learners called different over folds, percent of data sets",
    "methods": "Three equally good methods: any called worse, mean of one covered, percent",
}


Section = Callable[[Report, ProcessPoolExecutor, int], None]
"""Adds its measurements to a report, from this many data sets per cell."""


def measure(records: Mapping[str, Sequence[Section]], sets: int, *, about: str | None) -> None:
    """Measure results by name, each by its sections, as the command line says."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--sets", type=int, help="data sets of each cell, without writing")
    parser.add_argument("--only", choices=list(records), help="measure only this result")
    parser.add_argument("--processes", type=int, help="default: one for each core")
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        for name in [options.only] if options.only else records:
            report = Report(name, libraries=("numpy", "scipy"))
            for section in records[name]:
                section(report, pool, options.sets or sets)
            if options.sets is not None:
                for row in (row for rows in report.tables.values() for row in rows):
                    print(row)
                continue
            path = report.save()
            write_page(json.loads(path.read_text(encoding="utf-8")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, help="data sets of each cell, without writing")
    parser.add_argument("--full", action="store_true", help="ten times as many data sets")
    parser.add_argument("--only", choices=list(RECORDS), help="measure only this result")
    options = parser.parse_args()
    wanted = options.sets or SETS * (10 if options.full else 1)
    # One thread each: with more processes than cores, linear algebra threads would only wait.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for name in [options.only] if options.only else RECORDS:
            report = Report(name, libraries=("numpy", "scipy"))
            report.fact("data sets of a cell", wanted)
            for section in RECORDS[name]:
                section(report, pool, wanted)
            if options.sets is None:
                path = report.save()
                write_page(json.loads(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
