"""How often intervals of one run with many classes cover the true value.

Averages over the classes of weighted runs: weights are lognormal (sigma 1), map a balanced test
set back to a population in which class i has a share of 1/i, or are all equal. Costs of runs
without weights, which differ by orders of magnitude: of each cell, of each class, or only of the
rarest. Wrong predictions fall evenly on the other classes, or four in five on one.

    python benchmarks/claims_many.py              about ten minutes on two cores
    python benchmarks/claims_many.py --sets 10    a look; writes nothing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from claims import Section, measure
from claims_intervals import Floats, Rng, Values, cover, holds, rates, row_of, run_cells
from harness import Report

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.intervals.costs import cost_intervals
from offdiag.metrics.suite import evaluate_stack
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.metrics.weighted.intervals import weighted_suite_intervals

SETS = 60
TO_ONE = 0.8
"""Share of the wrong predictions of a class that fall on one other class, if they do."""


def answers(n_classes: int, recall: float, *, on_one: bool) -> Floats:
    """Shares of the predictions for each class, in rows (K, K)."""
    others = 1 - np.eye(n_classes)
    rows = others / (n_classes - 1)
    if on_one:
        rows = (1 - TO_ONE) * rows + TO_ONE * np.roll(np.eye(n_classes), 1, axis=1)
    return np.asarray((1 - recall) * rows + recall * np.eye(n_classes))


def falling(n_classes: int) -> Floats:
    shares = 1 / np.arange(1.0, n_classes + 1)
    return np.asarray(shares / shares.sum())


@dataclass(frozen=True)
class AverageCell:
    """n samples, balanced over the classes, with one kind of weights."""

    n: int
    n_classes: int
    recall: float
    weights: str
    on_one: bool = False

    @property
    def name(self) -> str:
        fall = ", on one class" if self.on_one else ""
        return f"n {self.n:,}, K {self.n_classes}, recall {self.recall:g}, {self.weights}{fall}"

    @property
    def labels(self) -> LabelSet:
        return LabelSet.numbered(self.n_classes)

    @property
    def rows(self) -> Floats:
        return answers(self.n_classes, self.recall, on_one=self.on_one)

    @property
    def of_class(self) -> Floats:
        """Shares of the classes in the population that the weights represent."""
        even = np.full(self.n_classes, 1 / self.n_classes)
        return falling(self.n_classes) if self.weights == "by class" else even

    def draw(self, rng: Rng) -> WeightedCounts:
        cells = rng.choice(self.n_classes**2, self.n, p=self.rows.ravel() / self.n_classes)
        actual, predicted = (part.astype(np.uint8) for part in np.divmod(cells, self.n_classes))
        weight = self.n_classes * self.of_class[actual]
        if self.weights == "lognormal":
            weight = rng.lognormal(0.0, 1.0, self.n)
        return WeightedCounts.of_samples(actual, predicted, weight, self.labels)


AVERAGES = ("balanced_accuracy", "macro_precision", "macro_f1", "weighted_precision",
            "weighted_f1", "mcc")  # fmt: skip
AVERAGE_CELLS = [
    AverageCell(n, n_classes, recall, weights, on_one)
    for (n, n_classes), recall, weights, on_one in product(
        ((300, 10), (1_000, 30)),
        (0.8, 0.97),
        ("lognormal", "by class", "equal"),
        (False, True),
    )
] + [AverageCell(8_000, 250, 0.9, weights) for weights in ("lognormal", "by class", "equal")]


def true_averages(cell: AverageCell) -> Values:
    matrix = cell.rows * cell.of_class[:, np.newaxis] * 1e6
    suite = evaluate_stack(matrix, ordinal=False, names=cell.labels.names).aggregate
    return {key: float(suite[key].value) for key in AVERAGES}


def of_averages(cell: AverageCell, rng: Rng, truth: Values) -> list[float]:
    """Whether each interval covers the truth; NaN if it has no ends."""
    found = cell.draw(rng)
    suite = evaluate_stack(found.sums, ordinal=False, names=found.labels.names)
    intervals = weighted_suite_intervals(found, suite, seed=0, replicates=1_000).aggregate
    return [holds(intervals[key].at(), truth[key]) for key in AVERAGES]


@dataclass(frozen=True)
class CostCell:
    """n samples of classes with falling shares, with one kind of costs."""

    n: int
    n_classes: int
    recall: float
    costs: str
    on_one: bool

    @property
    def name(self) -> str:
        fall = ", on one class" if self.on_one else ""
        return f"n {self.n:,}, K {self.n_classes}, recall {self.recall:g}, {self.costs}{fall}"

    @cached_property
    def matrix(self) -> CostMatrix:
        rng, size = np.random.default_rng(self.n_classes), self.n_classes
        weights = {
            "of each cell": rng.lognormal(0.0, 1.5, (size, size)),
            "of each class": np.repeat(
                np.sort(rng.lognormal(0.0, 2.0, size))[:, np.newaxis], size, axis=1
            ),
            "of the rarest": np.where(np.arange(size)[:, np.newaxis] == size - 1, 100.0, 1.0)
            * np.ones((size, size)),
            "equal": np.ones((size, size)),
        }[self.costs]
        return CostMatrix(weights * (1 - np.eye(size)), LabelSet.numbered(size))

    @property
    def population(self) -> Floats:
        rows = answers(self.n_classes, self.recall, on_one=self.on_one)
        return np.asarray(rows * falling(self.n_classes)[:, np.newaxis])


COSTS = ("mean_cost", "cost_ratio_to_best_trivial", "skill_vs_trivial")
COST_CELLS = [
    CostCell(n, n_classes, recall, costs, on_one)
    for n, n_classes, recall, costs, on_one in product(
        (100, 300, 1_000),
        (5, 30),
        (0.85, 0.97),
        ("of each cell", "of each class", "of the rarest", "equal"),
        (False, True),
    )
]


def true_costs(cell: CostCell) -> Values:
    found = evaluate_costs(cell.population * 1e6, cell.matrix.weights)
    return {key: float(found[key].value) for key in COSTS}


def of_costs(cell: CostCell, rng: Rng, truth: Values) -> list[float]:
    size = cell.n_classes
    counts = rng.multinomial(cell.n, cell.population.ravel()).reshape(size, size)
    matrix = ConfusionMatrix(counts, cell.matrix.labels)
    found = cost_intervals(matrix, cell.matrix, seed=0, replicates=1_000)
    return [holds(found[key], truth[key]) for key in COSTS]


def report(
    result: Report, table: str, cells: Sequence[Any], found: Sequence[Floats], keys: Sequence[str]
) -> None:
    """A table of the cells; goals are the coverage over all of them, facts the lowest one."""
    rows = [row_of(cell.name, held, keys) for cell, held in zip(cells, found, strict=True)]
    result.tables[table] = rows
    pooled = np.concatenate(found)
    for at, key in enumerate(keys):
        cover(result, f"{key} of many classes", pooled[:, at])
        each = [rates(held)[at] for held in found]
        result.fact(f"{key}: lowest cell, %", round(100 * float(np.nanmin(each)), 1))


def report_averages(result: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    result.fact("data sets of a cell", n_sets)
    found = run_cells(pool, of_averages, true_averages, AVERAGE_CELLS, n_sets)
    report(result, "averages of weighted classes", AVERAGE_CELLS, found, AVERAGES)


def report_costs(result: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    result.fact("data sets of a cell", 3 * n_sets)
    found = run_cells(pool, of_costs, true_costs, COST_CELLS, 3 * n_sets)
    report(result, "costs of many classes", COST_CELLS, found, COSTS)


RECORDS: Mapping[str, tuple[Section, ...]] = {
    "claims-averages": (report_averages,),
    "claims-costs": (report_costs,),
}
"""Sections that are measured and saved together, by the name of their result."""


if __name__ == "__main__":
    measure(RECORDS, SETS, about=__doc__)
