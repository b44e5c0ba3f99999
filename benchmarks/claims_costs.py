"""Whether flag F11 holds its level, and what intervals of costs cover in the hardest cases.

F11 says that a run costs no less than a constant prediction. Its error is to say so about a run
that truly costs less, even if only slightly; its power is how often it says so about one that
costs more. Intervals are checked for costs of two classes with few expensive errors, and at
declared shares of the classes.

    python benchmarks/claims_costs.py              some minutes on two cores
    python benchmarks/claims_costs.py --sets 10    a look; writes nothing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from claims import Section, allowed, measure
from claims_intervals import Floats, Rng, Values, cover, holds, rates, row_of, run_cells
from claims_many import CostCell, answers, falling
from harness import Report

from offdiag.domain.labels import LabelSet
from offdiag.flags.rule_evaluation import Subjects
from offdiag.flags.rules.costs import judge_costs
from offdiag.flags.thresholds import Thresholds
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.costs.threshold import side_costs
from offdiag.metrics.intervals.costs import cost_intervals, threshold_bounds

SETS = 500
CONSTANT_SETS = 4
"""Factor on the data sets of a cell of F11, which takes no draws."""


@dataclass(frozen=True)
class ConstantCell:
    """n samples of classes with these shares, and a run with `recalls`; errors are uniform.

    An error on the last class costs `dear` times as much as any other.
    """

    n: int
    shares: tuple[float, ...]
    recalls: tuple[float, ...]
    dear: float

    @property
    def n_classes(self) -> int:
        return len(self.shares)

    @cached_property
    def population(self) -> Floats:
        """Shares of the cells of the confusion matrix."""
        rows = np.stack(
            [
                answers(self.n_classes, recall, on_one=False)[code]
                for code, recall in enumerate(self.recalls)
            ]
        )
        return np.asarray(rows * np.asarray(self.shares)[:, np.newaxis])

    @cached_property
    def costs(self) -> CostMatrix:
        weights = 1 - np.eye(self.n_classes)
        weights[-1] *= self.dear
        return CostMatrix(weights, LabelSet.numbered(self.n_classes))

    @property
    def ratio(self) -> float:
        """The true cost relative to that of the best constant prediction."""
        weights = self.costs.weights
        return float((self.population * weights).sum() / (np.asarray(self.shares) @ weights).min())

    @property
    def name(self) -> str:
        return (
            f"n {self.n:,}, K {self.n_classes}, last class {self.shares[-1]:.2g}, "
            f"its errors cost {self.dear:g}, recall {self.recalls[-1]:.2g}"
        )


def rare(share: float, dear: float, ratio: float, recall: float) -> tuple[Any, ...]:
    """Two classes; false alarms make the cost `ratio` times that of always predicting 0."""
    alarms = share * dear * (ratio - 1 + recall)
    return (1 - share, share), (1 - alarms / (1 - share), recall), dear


def even(n_classes: int, above_chance: float) -> tuple[Any, ...]:
    """Classes with equal shares and costs, and predictions that are nearly random."""
    recall = 1 / n_classes + above_chance
    return (1 / n_classes,) * n_classes, (recall,) * n_classes, 1.0


NINE = (0.12,) * 8 + (0.04,)
RUNS = (
    rare(0.05, 10, 0.5, 0.55),
    rare(0.05, 10, 0.99, 0.3),
    rare(0.05, 10, 0.99, 0.9),
    even(2, 0.01),
    even(5, 0.005),
    even(20, 0.002),
    (NINE, (0.1,) * 8 + (0.97,), 50.0),
    rare(0.05, 10, 1.0, 0.05),
    rare(0.05, 10, 1.2, 0.3),
    rare(0.05, 10, 1.5, 0.1),
    rare(0.05, 10, 2.0, 0.5),
    even(2, -0.1),
    even(5, -0.06),
    (NINE, (0.5,) * 9, 50.0),
)
CONSTANT_CELLS = [ConstantCell(n, *run) for run, n in product(RUNS, (30, 100, 300, 1_000))]


def of_constant(job: tuple[ConstantCell, int]) -> Floats:
    """Whether F11 is raised, and whether the run costs as much on these samples, (2, sets)."""
    cell, n_sets = job
    rng: Rng = np.random.default_rng([cell.n, cell.n_classes, round(1e6 * cell.ratio)])
    drawn = rng.multinomial(cell.n, cell.population.ravel(), n_sets)
    subjects = Subjects(
        drawn.reshape(n_sets, cell.n_classes, cell.n_classes), cell.costs.labels.names
    )
    judged = judge_costs(subjects, cell.costs.weights, Thresholds())
    at_all = subjects.is_assessable
    return np.array([judged.fires & at_all, judged.comparisons[0].holds & at_all], np.float64)


def report_constant(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    n_sets *= CONSTANT_SETS
    found = list(pool.map(of_constant, [(cell, n_sets) for cell in CONSTANT_CELLS]))
    rows: list[dict[str, Any]] = []
    for cell, of_cell in zip(CONSTANT_CELLS, found, strict=True):
        flagged, higher = (round(100 * float(each.mean()), 1) for each in of_cell)
        rows.append(
            {
                "cell": cell.name,
                "sets": n_sets,
                "true cost, of the constant's": f"{cell.ratio:.2f}",
                "costs as much on these examples": higher,
                "F11": flagged,
            }
        )
    report.tables["costs beside a constant"] = rows
    of_cheaper = [
        float(of_cell[0].mean())
        for cell, of_cell in zip(CONSTANT_CELLS, found, strict=True)
        if cell.ratio < 1
    ]
    report.goal(
        "F11 of a run that costs less than every constant prediction, highest cell, %",
        measured=round(100 * max(of_cheaper), 2),
        wanted=allowed(n_sets),
        at_least=False,
    )


COSTLY_SETS = 2
"""Divisor of the data sets of a cell of intervals, which take draws."""


@dataclass(frozen=True)
class CostlyCell:
    """n samples of two classes, with these expected errors on the second, which has a `share`.

    These cost `dear` times as much as false alarms, of which the first class has the rate
    `alarms`.
    """

    n: int
    share: float
    errors: float
    alarms: float
    dear: float

    @property
    def population(self) -> Floats:
        missed = self.errors / self.n
        alarms = (1 - self.share) * self.alarms
        return np.array([[1 - self.share - alarms, alarms], [missed, self.share - missed]])

    @cached_property
    def costs(self) -> CostMatrix:
        return CostMatrix(np.array([[0.0, 1.0], [self.dear, 0.0]]), LabelSet.numbered(2))

    @property
    def name(self) -> str:
        return (
            f"n {self.n:,}, positive {self.share:g}, {self.errors:g} misses expected that cost "
            f"{self.dear:g}, false alarms {self.alarms:g}"
        )


COSTS = ("mean_cost", "cost_ratio_to_best_trivial", "skill_vs_trivial")
COSTLY_CELLS = [
    CostlyCell(n, share, errors, alarms, dear)
    for (n, share), errors, alarms, dear in product(
        ((100, 0.4), (300, 0.1), (1_000, 0.05)),
        (1.0, 2.0, 2.5, 3.0, 5.0, 10.0),
        (0.02, 0.2),
        (5.0, 50.0),
    )
]


def true_of_costly(cell: CostlyCell) -> Values:
    found = evaluate_costs(cell.population * 1e6, cell.costs.weights)
    return {key: float(found[key].value) for key in COSTS}


def of_costly(cell: CostlyCell, rng: Rng, truth: Values) -> list[float]:
    """Whether intervals of the costs cover the truth, and the one at a threshold."""
    counts = rng.multinomial(cell.n, cell.population.ravel()).reshape(2, 2)
    found = cost_intervals(
        ConfusionMatrix(counts, cell.costs.labels),
        cell.costs,
        keys=COSTS,
        seed=0,
        replicates=1_000,
    )
    (right, added), (missed, hits) = counts
    ends = threshold_bounds(
        side_costs(cell.costs, 1),
        np.array([hits]),
        np.array([added]),
        n_positive=missed + hits,
        n_negative=right + added,
    )
    at_threshold = ends.low[0] <= truth["mean_cost"] <= ends.high[0]
    return [*(holds(found[key], truth[key]) for key in COSTS), float(at_threshold)]


def report_costly(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    n_sets //= COSTLY_SETS
    report.fact("data sets of a cell", n_sets)
    found = run_cells(pool, of_costly, true_of_costly, COSTLY_CELLS, n_sets)
    _covered(report, "few costly errors", COSTLY_CELLS, found, (*COSTS, "cost at a threshold"))


def _covered(
    report: Report, table: str, cells: Sequence[Any], found: Sequence[Floats], keys: Sequence[str]
) -> None:
    """A table of the cells; goals are the coverage over all of them, facts the lowest one."""
    report.tables[table] = [
        row_of(cell.name, held, keys) for cell, held in zip(cells, found, strict=True)
    ]
    pooled = np.concatenate(found)
    for at, key in enumerate(keys):
        cover(report, f"{key}, {table}", pooled[:, at])
        each = [rates(held)[at] for held in found]
        report.fact(f"{key}, {table}: lowest cell, %", round(100 * float(np.nanmin(each)), 1))


@dataclass(frozen=True)
class DeclaredCell:
    """A cell of `claims_many.py` with declared class shares that differ from those tested.

    The test set is balanced if falling shares are declared, or the other way round.
    """

    of: CostCell
    tested_evenly: bool

    @property
    def name(self) -> str:
        shares = "even for falling" if self.tested_evenly else "falling for even"
        return f"{self.of.name}, {shares}"

    def shares(self, *, tested: bool) -> Floats:
        size = self.of.n_classes
        return np.full(size, 1 / size) if tested is self.tested_evenly else falling(size)

    def population(self, *, tested: bool) -> Floats:
        rows = answers(self.of.n_classes, self.of.recall, on_one=self.of.on_one)
        return rows * self.shares(tested=tested)[:, np.newaxis]


DECLARED_CELLS = [
    DeclaredCell(CostCell(n, n_classes, recall, costs, on_one=False), tested_evenly)
    for (n, n_classes), recall, costs, tested_evenly in product(
        ((100, 2), (300, 2), (100, 5), (300, 5), (1_000, 5), (1_000, 30)),
        (0.85, 0.97),
        ("of each cell", "of each class", "of the rarest", "equal"),
        (True, False),
    )
]


def true_of_declared(cell: DeclaredCell) -> Values:
    found = evaluate_costs(cell.population(tested=False) * 1e6, cell.of.matrix.weights)
    return {key: float(found[key].value) for key in COSTS}


def of_declared(cell: DeclaredCell, rng: Rng, truth: Values) -> list[float]:
    """Whether intervals cover the truth; NaN if a class has no sample."""
    size = cell.of.n_classes
    counts = rng.multinomial(cell.of.n, cell.population(tested=True).ravel()).reshape(size, size)
    if not counts.sum(axis=1).all():
        return [np.nan] * len(COSTS)
    found = cost_intervals(
        ConfusionMatrix(counts, cell.of.matrix.labels),
        cell.of.matrix,
        prevalence=cell.shares(tested=False),
        keys=COSTS,
        seed=0,
        replicates=1_000,
    )
    return [holds(found[key], truth[key]) for key in COSTS]


def report_declared(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    n_sets //= COSTLY_SETS
    report.fact("data sets of a cell", n_sets)
    found = run_cells(pool, of_declared, true_of_declared, DECLARED_CELLS, n_sets)
    _covered(report, "costs at declared shares", DECLARED_CELLS, found, COSTS)


RECORDS: Mapping[str, tuple[Section, ...]] = {
    "claims-constant": (report_constant,),
    "claims-costly": (report_costly,),
    "claims-declared": (report_declared,),
}
"""Sections that are measured and saved together, by the name of their result."""


if __name__ == "__main__":
    measure(RECORDS, SETS, about=__doc__)
