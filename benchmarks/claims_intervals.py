"""How often intervals of one run cover the true value in the hardest cases.

Averages of multi-label runs, with few errors and with many; functions of a confusion matrix and
costs, with few errors, rare classes and weights; areas under the ROC curve of rounded scores;
parts of the Brier score, calibrated or not; proportions; and calibrated scores that are called
miscalibrated. The truth is that of a very large sample, or known. The tables go into
docs/contributing/claims.md, and docs/intervals.md summarises them.

    python benchmarks/claims_intervals.py              some minutes on one core
    python benchmarks/claims_intervals.py --sets 10    a look; writes nothing
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import product
from math import isnan, sqrt
from typing import Any

import numpy as np
from claims import LEVEL, Section, allowed, measure
from claims_sets import SetCell, falling
from harness import Report
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import binom

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.intervals.bounds import SMALLEST_WITH_ENDS, Interval
from offdiag.metrics.intervals.brier_parts import brier_part_intervals
from offdiag.metrics.intervals.calibration import calibration_references
from offdiag.metrics.intervals.costs import cost_intervals
from offdiag.metrics.intervals.discrimination import auc_interval
from offdiag.metrics.intervals.multilabel import multilabel_intervals
from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.intervals.scores import score_intervals
from offdiag.metrics.intervals.suite import SuiteIntervals, suite_intervals
from offdiag.metrics.multilabel.suite import set_metrics, set_score_metrics
from offdiag.metrics.multilabel.tally import tally_sets
from offdiag.metrics.scores.discrimination import roc_auc
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.ranking import rank_scores
from offdiag.metrics.scores.suite import score_metrics
from offdiag.metrics.suite import evaluate_stack
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.metrics.weighted.intervals import weighted_costs, weighted_suite_intervals

Rng = np.random.Generator
Floats = NDArray[np.float64]
Values = Mapping[str, float]
COVERAGE = 1 - LEVEL
SETS = 300
OF_TRUTH = 400_000
"""Number of samples from which true values are computed."""

OF_SETS = ("hamming_loss", "example_jaccard", "example_f1", "micro_f1", "macro_f1", "weighted_f1",
           "micro_precision", "weighted_precision", "label_ranking_average_precision",
           "label_ranking_loss")  # fmt: skip
FIRM = ("hamming_loss", "example_jaccard", "example_f1", "micro_f1", "macro_f1", "weighted_f1")
"""Averages whose pooled coverage is a goal."""
APART = 2.5
"""How far the scores of samples with a label are above the others, in standard deviations."""


def set_scores(actual: NDArray[np.bool_], rng: Rng) -> Floats:
    return rng.standard_normal(actual.shape) + APART * actual


def true_of_sets(cell: SetCell) -> Values:
    """The averages over that many samples, in batches that fit into memory."""
    rng = np.random.default_rng([1, len(cell.shares)])
    part = replace(cell, n=OF_TRUTH // 8, n_runs=1)
    found: dict[str, list[float]] = {key: [] for key in OF_SETS}
    for _ in range(8):
        actual, (predicted,) = part.draw(rng)
        values = dict(set_metrics(tally_sets(actual, predicted)))
        values |= set_score_metrics(actual, set_scores(actual, rng))
        for key in OF_SETS:
            found[key].append(values[key].value or 0.0)
    return {key: float(np.mean(each)) for key, each in found.items()}


def of_sets(cell: SetCell, rng: Rng, truth: Values) -> list[float]:
    """Whether each interval covers the truth; NaN if it has no ends."""
    actual, (predicted,) = cell.draw(rng)
    found = multilabel_intervals(actual, predicted, set_scores(actual, rng)).aggregate
    return [holds(found[key], truth[key]) for key in OF_SETS]


def holds(interval: Interval | None, truth: float) -> float:
    if interval is None or interval.low is None or interval.high is None:
        return np.nan
    return float(interval.low <= truth <= interval.high)


SPREAD = 1.6
"""Standard deviation of the logits of scores."""


@dataclass(frozen=True)
class ScoreCell:
    """Calibrated scores of n samples, of which `positives` are positive on average.

    They are rounded to multiples of 1 / `steps`, which keeps them calibrated: a sample is positive
    with the probability given by its rounded score.
    """

    n: int
    positives: int
    steps: int

    @property
    def name(self) -> str:
        return f"n {self.n:,}, {self.positives} positives, scores of {self.steps + 1} values"

    @cached_property
    def place(self) -> float:
        """The mean logit that makes that many samples positive."""
        normal = np.random.default_rng(3).standard_normal(OF_TRUTH)
        low, high = -20.0, 5.0
        for _ in range(40):
            middle = (low + high) / 2
            too_many = self._scores(middle, normal).mean() > self.positives / self.n
            low, high = (low, middle) if too_many else (middle, high)
        return low

    def _scores(self, place: float, normal: Floats) -> Floats:
        rounded = np.round(expit(place + SPREAD * normal) * self.steps) / self.steps
        return np.clip(rounded, 0.2 * self.positives / self.n, 1.0)

    def draw(self, rng: Rng, n: int | None = None) -> Forecasts:
        score = self._scores(self.place, rng.standard_normal(n or self.n))
        actual = (rng.random(len(score)) < score).astype(np.uint8)
        table = score[:, np.newaxis].astype(np.float32)
        return Forecasts(actual, table, n_classes=2, positive=1)


OF_SCORES = ("roc_auc", "average_precision", "brier_half", "ks")


def true_of_scores(cell: ScoreCell) -> Values:
    found = score_metrics(cell.draw(np.random.default_rng(2), OF_TRUTH))
    return {key: found[key].value or 0.0 for key in OF_SCORES}


def of_scores(cell: ScoreCell, rng: Rng, truth: Values) -> list[float]:
    """Whether intervals cover the truth, and calibrated scores are called miscalibrated.

    Coverage is NaN below five positives.
    """
    forecasts = cell.draw(rng)
    if min(forecasts.actual.sum(), cell.n - forecasts.actual.sum()) < SMALLEST_WITH_ENDS:
        return [np.nan] * (len(OF_SCORES) + 1)
    found = score_intervals(forecasts, seed=0)
    p = calibration_references(forecasts.ranked(1), seed=int(rng.integers(1 << 30)))["ece"].p
    held = [holds(found.get(key), truth[key]) for key in OF_SCORES]
    return [*held, float(p <= LEVEL)]


Simulate = Callable[[Any, Rng, Values], list[float]]


def _job(job: tuple[Simulate, Callable[[Any], Values], Any, int]) -> Floats:
    simulate, true_values, cell, n_sets = job
    truth = true_values(cell)
    # Cells do not share data sets, and their order does not matter.
    rng = np.random.default_rng([n_sets, *blake2b(repr(cell).encode(), digest_size=8).digest()])
    return np.array([simulate(cell, rng, truth) for _ in range(n_sets)])


def run_cells(
    pool: ProcessPoolExecutor,
    simulate: Simulate,
    true_values: Callable[[Any], Values],
    cells: Sequence[Any],
    n_sets: int,
) -> list[Floats]:
    return list(pool.map(_job, [(simulate, true_values, cell, n_sets) for cell in cells]))


QUALITIES = ((0.8, 0.9), (0.95, 0.98), (0.99, 0.998), (0.3, 0.7))
"""Recall and specificity of all labels: many errors, few, hardly any, and a useless model."""
SET_CELLS = [
    SetCell(n, shares, 1, recall, specificity)
    for n, shares, (recall, specificity) in product(
        (20, 100, 1_000), ((0.5, 0.4, 0.3), falling(20)), QUALITIES
    )
]


def report_sets(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    found = run_cells(pool, of_sets, true_of_sets, SET_CELLS, n_sets)
    rows: list[dict[str, Any]] = []
    for cell, held in zip(SET_CELLS, found, strict=True):
        name = f"n {cell.n:,}, {len(cell.shares)} labels, recall {cell.recall:g}"
        rows.append(row_of(name, held, OF_SETS))
    report.tables["intervals of sets"] = rows
    pooled = np.concatenate(found)
    for at, key in enumerate(OF_SETS):
        cover(report, f"multi-label {key}", pooled[:, at], is_goal=key in FIRM)
        lowest = min(rate for rate in (rates(held)[at] for held in found) if not isnan(rate))
        report.fact(f"multi-label {key}: lowest cell, %", round(100 * lowest, 1))


def row_of(name: str, held: Floats, keys: Sequence[str], **others: int) -> dict[str, Any]:
    """Coverage of the intervals of one cell in percent, blank if too few have ends."""
    percent = ["" if isnan(rate) else round(100 * rate, 1) for rate in rates(held)]
    counts = {"sets": len(held), **others}
    return {"cell": name, **counts, **dict(zip(keys, percent, strict=True))}


def rates(held: Floats) -> list[float]:
    """Coverage among the intervals that have ends; NaN if these are fewer than a third of all."""
    counted = np.count_nonzero(~np.isnan(held), axis=0)
    with np.errstate(invalid="ignore"):
        share = np.nansum(held, axis=0) / counted
    few = max(len(held) // 3, 1)
    return [float(rate) for rate in np.where(counted >= few, share, np.nan)]


def cover(report: Report, name: str, held: Floats, *, is_goal: bool = True) -> None:
    measured = round(100 * float(np.nanmean(held)), 2)
    if not is_goal:
        report.fact(f"intervals of {name} that cover, %", measured)
        return
    counted = int(np.count_nonzero(~np.isnan(held)))
    wanted = 100 * (WANTED - 2 * sqrt(WANTED * (1 - WANTED) / counted))
    report.goal(f"intervals of {name} that cover, %", measured=measured, wanted=round(wanted, 2))


WANTED = 0.93
SCORE_CELLS = [
    ScoreCell(n, positives, steps)
    for n, positives, steps in product((300,), (10, 20, 60), (4, 10, 100))
]


def report_scores(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    found = run_cells(pool, of_scores, true_of_scores, SCORE_CELLS, n_sets)
    columns = (*OF_SCORES, "called miscalibrated")
    rows: list[dict[str, Any]] = []
    for cell, held in zip(SCORE_CELLS, found, strict=True):
        rows.append(row_of(cell.name, held, columns))
    report.tables["intervals of scores"] = rows
    pooled = np.concatenate(found)
    for at, key in enumerate(OF_SCORES):
        cover(report, key, pooled[:, at], is_goal=key != "average_precision")
    miscalled = pooled[:, -1]
    report.goal(
        "calibrated scores called miscalibrated, %",
        measured=round(100 * float(np.nanmean(miscalled)), 2),
        wanted=allowed(int(np.count_nonzero(~np.isnan(miscalled)))),
        at_least=False,
    )


CALIBRATION: Mapping[str, tuple[float, float]] = {
    "calibrated": (0.0, 1.0),
    "too certain": (0.0, 0.5),
    "too uncertain": (0.0, 2.0),
    "too high": (-1.0, 1.0),
    "too low": (1.0, 1.0),
    "useless": (0.0, 0.05),
}
"""The logit of the true share is the first number plus the second times that of the score."""


@dataclass(frozen=True)
class PartCell:
    """Scores of n samples in multiples of 1 / `steps`, calibrated or not."""

    n: int
    steps: int
    calibration: str

    @property
    def name(self) -> str:
        return f"n {self.n:,}, scores of {self.steps + 1:,} values, {self.calibration}"

    def draw(self, rng: Rng, n: int) -> tuple[Floats, Floats]:
        """Scores and the share of positives of each."""
        score = np.round(expit(SPREAD * rng.standard_normal(n) - 1) * self.steps) / self.steps
        if self.calibration == "calibrated":
            return score, score
        shift, slope = CALIBRATION[self.calibration]
        return score, expit(shift + slope * logit(np.clip(score, 0.002, 0.998)))


PARTS = ("brier_reliability", "brier_resolution")
PART_CELLS = [
    PartCell(n, steps, calibration)
    for n, steps, calibration in product((100, 300, 3_000), (4, 20, 100, 1_000), CALIBRATION)
]


def true_of_parts(cell: PartCell) -> Values:
    score, share = cell.draw(np.random.default_rng(4), OF_TRUTH)
    return {
        "brier_reliability": 2 * float(np.mean((score - share) ** 2)),
        "brier_resolution": 2 * float(share.var()),
    }


def of_parts(cell: PartCell, rng: Rng, truth: Values) -> list[float]:
    score, share = cell.draw(rng, cell.n)
    actual = (rng.random(cell.n) < share).astype(np.uint8)
    forecasts = Forecasts(actual, score[:, np.newaxis], n_classes=2, positive=1)
    found = brier_part_intervals(forecasts, confidence=COVERAGE)
    return [holds(found[key], truth[key]) for key in PARTS]


def report_parts(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    report.fact("data sets of a cell", n_sets)
    found = run_cells(pool, of_parts, true_of_parts, PART_CELLS, n_sets)
    rows: list[dict[str, Any]] = []
    for cell, held in zip(PART_CELLS, found, strict=True):
        without = round(100 * float(np.isnan(held[:, 0]).mean()))
        rows.append(row_of(cell.name, held, PARTS, **{"without ends, %": without}))
    report.tables["intervals of parts"] = rows
    pooled = np.concatenate(found)
    for at, key in enumerate(PARTS):
        cover(report, key, pooled[:, at])
        lowest = min(rate for rate in (rates(held)[at] for held in found) if not isnan(rate))
        report.fact(f"{key}: lowest cell, %", round(100 * lowest, 1))


@dataclass(frozen=True)
class CoarseCell:
    """Normal scores of 200 samples in few steps; those of positives are `apart` higher."""

    positives: int
    apart: float
    steps: tuple[float, ...]

    @property
    def name(self) -> str:
        return (
            f"{self.positives} of 200 positive, {self.apart:g} apart, {len(self.steps) + 1} values"
        )

    def draw(self, rng: Rng, times: int = 1) -> tuple[NDArray[np.bool_], Floats]:
        actual = np.repeat([True, False], [self.positives * times, (200 - self.positives) * times])
        scores = rng.standard_normal(len(actual)) + self.apart * actual
        return actual, np.searchsorted(np.asarray(self.steps), scores).astype(np.float64)


COARSE = [
    CoarseCell(positives, apart, steps)
    for positives, (apart, steps) in product(
        (10, 20, 60),
        ((1.3, (1.5,)), (1.3, (0.0, 1.0, 2.0)), (3.0, (2.5,)), (3.0, (2.0, 3.0, 4.0))),
    )
]


def report_areas(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    report.fact("data sets of a cell", n_sets)
    found = list(pool.map(_areas, [(cell, 4 * n_sets) for cell in COARSE]))
    rows: list[dict[str, Any]] = []
    for cell, (same, held) in zip(COARSE, found, strict=True):
        rows.append({"cell": cell.name, "sets": len(held), "most frequent value, %": same,
                     "roc_auc": round(100 * float(np.nanmean(held)), 1)})  # fmt: skip
    report.tables["intervals of areas"] = rows
    cover(report, "areas of coarse scores", np.concatenate([held for _, held in found]))


def _areas(job: tuple[CoarseCell, int]) -> tuple[float, Floats]:
    """Percent of samples with the most frequent score, and whether intervals cover the area."""
    cell, n_sets = job
    rng = np.random.default_rng([n_sets, cell.positives])
    actual, scores = cell.draw(rng, OF_TRUTH // 200)
    truth = roc_auc(rank_scores(actual, scores)).value or 0.0
    same = round(100 * float(np.unique(scores, return_counts=True)[1].max() / len(scores)), 1)
    held = [holds(auc_interval(rank_scores(*cell.draw(rng))), truth) for _ in range(n_sets)]
    return same, np.array(held)


PROPORTION_SIZES = (5, 10, 20, 100, 1_000)
EXPECTED = ((0.0, 1.0), (1.0, 2.0), (2.0, 10.0))
"""Ranges of expected errors for which the lowest coverage is reported."""


def report_proportions(report: Report, _: ProcessPoolExecutor, n_sets: int) -> None:
    """Wilson's interval, exactly: on average over proportions, and at the worst ones."""
    report.fact("data sets of a cell", n_sets)
    for n in PROPORTION_SIZES:
        errors = np.linspace(0.001, min(10.0, n / 2), 4_000)
        everywhere = np.linspace(0.001, 0.999, 999)
        report.fact(
            f"Wilson's interval, n {n:,}, on average over proportions, %",
            round(100 * float(_wilson_covers(n, everywhere).mean()), 1),
        )
        for low, high in EXPECTED:
            among = errors[(errors >= low) & (errors <= high)]
            if len(among):
                report.fact(
                    f"Wilson's interval, n {n:,}, lowest with {low:g} to {high:g} errors, %",
                    round(100 * float(_wilson_covers(n, among / n).min()), 1),
                )


def _wilson_covers(n: int, p: Floats) -> Floats:
    hits = np.arange(n + 1)
    ends = wilson(hits, n)
    held = (ends.low <= p[:, np.newaxis]) & (p[:, np.newaxis] <= ends.high)
    return np.asarray((binom.pmf(hits, n, p[:, np.newaxis]) * held).sum(axis=1))


@dataclass(frozen=True)
class MatrixCell:
    """n samples of classes with these shares and recalls; errors fall evenly on the other classes.

    A miss of the last class costs 50 times as much as any other error. Weights are lognormal with
    this sigma; with 0 there are none.
    """

    n: int
    shares: tuple[float, ...]
    recalls: tuple[float, ...]
    sigma: float = 0.0

    @property
    def name(self) -> str:
        weights = f", weights of sigma {self.sigma:g}" if self.sigma else ""
        of_last = f"{self.shares[-1]:g} with recall {self.recalls[-1]:g}"
        return f"n {self.n:,}, K {len(self.shares)}, last class {of_last}{weights}"

    @property
    def labels(self) -> LabelSet:
        return LabelSet.numbered(len(self.shares))

    @property
    def population(self) -> Floats:
        """Shares of the cells of the confusion matrix."""
        n_classes = len(self.shares)
        right = np.asarray(self.recalls)
        cells = np.repeat(((1 - right) / (n_classes - 1))[:, np.newaxis], n_classes, axis=1)
        np.fill_diagonal(cells, right)
        return np.asarray(cells * np.asarray(self.shares)[:, np.newaxis])

    @property
    def costs(self) -> CostMatrix:
        weights = 1 - np.eye(len(self.shares))
        weights[-1, :-1] = 50
        return CostMatrix(weights, self.labels)

    def draw(self, rng: Rng) -> ConfusionMatrix | WeightedCounts:
        n_classes = len(self.shares)
        places = rng.choice(n_classes**2, size=self.n, p=self.population.ravel())
        if not self.sigma:
            counts = np.bincount(places, minlength=n_classes**2).reshape(n_classes, n_classes)
            return ConfusionMatrix(counts, self.labels)
        actual, predicted = (part.astype(np.uint8) for part in np.divmod(places, n_classes))
        weights = rng.lognormal(0.0, self.sigma, self.n)
        return WeightedCounts.of_samples(actual, predicted, weights, self.labels)


def suite_of(drawn: ConfusionMatrix | WeightedCounts) -> SuiteIntervals:
    if isinstance(drawn, ConfusionMatrix):
        return suite_intervals(drawn, seed=0)
    suite = evaluate_stack(drawn.sums, ordinal=True, names=drawn.labels.names)
    return weighted_suite_intervals(drawn, suite, seed=0)


def falling_shares(n_classes: int, slope: float) -> Floats:
    """Shares that fall with this power of their rank (Zipf's law)."""
    shares = np.arange(1.0, n_classes + 1) ** -slope
    return np.asarray(shares / shares.sum())


OF_MATRICES = ("mcc", "macro_f1", "weighted_precision", "weighted_f1", "kappa_quadratic")
OF_COSTS = ("mean_cost", "cost_ratio_to_best_trivial")
MATRIX_CELLS = [
    MatrixCell(n, shares, recalls, sigma)
    for n, (shares, recalls), sigma in product(
        (100, 300, 1_000),
        (
            ((0.7, 0.3), (0.9, 0.9)),
            ((0.7, 0.3), (0.98, 0.98)),
            ((0.95, 0.05), (0.97, 0.8)),
            ((0.4, 0.4, 0.2), (0.9, 0.8, 0.8)),
            ((0.45, 0.45, 0.1), (0.98, 0.98, 0.95)),
            ((0.12,) * 8 + (0.04,), (0.85,) * 9),
        ),
        (0.0, 1.0),
    )
] + [MatrixCell(4_000, (1 / 250,) * 250, (0.9,) * 250, sigma) for sigma in (0.0, 1.0)]


def true_of_matrices(cell: MatrixCell) -> Values:
    suite = evaluate_stack(cell.population * 1e6, ordinal=True, names=cell.labels.names)
    costs = evaluate_costs(cell.population * 1e6, cell.costs.weights)
    of_both = {key: suite.aggregate[key] for key in OF_MATRICES}
    of_both |= {key: costs[key] for key in OF_COSTS}
    return {key: float(each.value) for key, each in of_both.items()}


def of_matrices(cell: MatrixCell, rng: Rng, truth: Values) -> list[float]:
    """Whether each interval covers the truth; NaN if it has no ends."""
    drawn = cell.draw(rng)
    intervals = suite_of(drawn)
    if isinstance(drawn, WeightedCounts):
        costs = weighted_costs(drawn, cell.costs, seed=0)
        of_costs = {key: Interval(each.ci_low, each.ci_high, "") for key, each in costs.items()}
    else:
        of_costs = cost_intervals(drawn, cell.costs, seed=0)
    of_matrix = {key: intervals.aggregate[key].at() for key in OF_MATRICES}
    found = of_matrix | {key: of_costs[key] for key in OF_COSTS}
    return [holds(found[key], truth[key]) for key in (*OF_MATRICES, *OF_COSTS)]


def report_matrices(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    report.fact("data sets of a cell", n_sets)
    found = run_cells(pool, of_matrices, true_of_matrices, MATRIX_CELLS, n_sets)
    keys = (*OF_MATRICES, *OF_COSTS)
    rows: list[dict[str, Any]] = []
    for cell, held in zip(MATRIX_CELLS, found, strict=True):
        rows.append(row_of(cell.name, held, keys))
    report.tables["intervals of matrices"] = rows
    _cover_weighted_and_not(report, MATRIX_CELLS, found, keys)


def _cover_weighted_and_not(
    report: Report,
    cells: Sequence[MatrixCell],
    found: Sequence[Floats],
    keys: Sequence[str],
    *,
    where: str = "",
) -> None:
    """Coverage over all cells without weights, and over all with weights, and the lowest."""
    for kind, is_weighted in (("", False), ("weighted ", True)):
        of_kind = [
            held
            for cell, held in zip(cells, found, strict=True)
            if bool(cell.sigma) is is_weighted
        ]
        pooled = np.concatenate(of_kind)
        for at, key in enumerate(keys):
            name = f"{kind}{key}{where}"
            cover(report, name, pooled[:, at])
            each = [rates(held)[at] for held in of_kind]
            lowest = min(rate for rate in each if not isnan(rate))
            report.fact(f"{name}: lowest cell, %", round(100 * lowest, 1))


AGREEMENT = ("mcc", "cohen_kappa")
RARE_CELLS = [
    MatrixCell(n, tuple(falling_shares(n_classes, slope)), (recall,) * n_classes, sigma)
    for (n, n_classes, slope), recall, sigma in product(
        ((100, 3, 3.0), (100, 5, 2.0), (100, 10, 1.0), (300, 5, 3.0), (300, 10, 2.0),
         (300, 30, 1.0), (1_000, 30, 2.0), (1_000, 100, 1.0)),
        (0.6, 0.9, 0.97),
        (0.0, 1.0),
    )
]  # fmt: skip
"""Most of their data sets have a class of one to four samples."""


def true_values(cell: MatrixCell, keys: tuple[str, ...]) -> Values:
    suite = evaluate_stack(cell.population * 1e6, ordinal=False, names=cell.labels.names)
    return {key: float(suite.aggregate[key].value) for key in keys}


def of_rare(cell: MatrixCell, rng: Rng, truth: Values) -> list[float]:
    """Whether intervals cover the truth, NaN if no class is that small or they have no ends."""
    drawn = cell.draw(rng)
    sizes = drawn.class_sizes if isinstance(drawn, WeightedCounts) else drawn.actual
    if int(sizes[sizes > 0].min()) >= SMALLEST_WITH_ENDS:
        return [np.nan] * len(AGREEMENT)
    intervals = suite_of(drawn).aggregate
    return [holds(intervals[key].at(), truth[key]) for key in AGREEMENT]


def report_rare(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    report.fact("data sets of a cell", n_sets)
    found = run_cells(pool, of_rare, partial(true_values, keys=AGREEMENT), RARE_CELLS, n_sets)
    rows: list[dict[str, Any]] = []
    for cell, held in zip(RARE_CELLS, found, strict=True):
        counted = int(np.count_nonzero(~np.isnan(held[:, 0])))
        rows.append(row_of(cell.name, held, AGREEMENT, sets=counted))
    report.tables["intervals with rare classes"] = rows
    _cover_weighted_and_not(report, RARE_CELLS, found, AGREEMENT, where=" with rare classes")


N_LAST, N_EXPECTED = 5, 2
"""Samples of the last class in the sample, and as many as its share lets expect."""
OF_MORE = ("balanced_accuracy", "macro_f1", "mcc", "cohen_kappa")
MORE_CELLS = [
    MatrixCell(n, (*(rest * (1 - N_EXPECTED / n) for rest in others), N_EXPECTED / n), recalls)
    for n, (others, recalls) in product(
        (100, 1_000),
        (
            ((1.0,), (0.9, 0.7)),
            ((1.0,), (0.97, 0.97)),
            ((0.5, 0.5), (0.9, 0.9, 0.7)),
        ),
    )
]


def of_more(cell: MatrixCell, rng: Rng, truth: Values) -> list[float]:
    """Whether intervals cover the truth if the last class has more samples than expected."""
    of_class = cell.population / np.asarray(cell.shares)[:, np.newaxis]
    others = np.asarray(cell.shares[:-1])
    sizes = [*rng.multinomial(cell.n - N_LAST, others / others.sum()).tolist(), N_LAST]
    counts = np.stack(
        [rng.multinomial(size, row) for size, row in zip(sizes, of_class, strict=True)]
    )
    intervals = suite_of(ConfusionMatrix(counts, cell.labels)).aggregate
    return [holds(intervals[key].at(), truth[key]) for key in OF_MORE]


def report_more(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    report.fact("data sets of a cell", n_sets)
    found = run_cells(pool, of_more, partial(true_values, keys=OF_MORE), MORE_CELLS, n_sets)
    rows: list[dict[str, Any]] = []
    for cell, held in zip(MORE_CELLS, found, strict=True):
        rows.append(row_of(cell.name, held, OF_MORE))
    report.tables["intervals with more than expected"] = rows
    pooled = np.concatenate(found)
    for at, key in enumerate(OF_MORE):
        cover(report, f"{key} with more than expected", pooled[:, at], is_goal=False)


RECORDS: Mapping[str, tuple[Section, ...]] = {
    "claims-intervals": (report_proportions, report_sets, report_scores),
    "claims-areas": (report_areas,),
    "claims-parts": (report_parts,),
    "claims-matrices": (report_matrices,),
    "claims-rare": (report_rare,),
    "claims-more": (report_more,),
}
"""Sections that are measured and saved together, by the name of their result."""


if __name__ == "__main__":
    measure(RECORDS, SETS, about=__doc__)
