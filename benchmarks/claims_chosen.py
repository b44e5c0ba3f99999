"""How often a difference is claimed that is only that of a choice on the same examples.

The cheapest threshold, the best run of a model and the champion of a series of gates are all
chosen on the examples they are then judged by. Everything that decides is a function of the
library itself.

    python benchmarks/claims_chosen.py              some minutes on two cores
    python benchmarks/claims_chosen.py --sets 10    a look; writes nothing
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import log
from multiprocessing import get_context
from typing import Any

import numpy as np
from claims import (
    LEVEL,
    SETS,
    Cell,
    Rng,
    even,
    hold_level,
    labels_of,
    percent,
    run_cells,
    tied,
    write_page,
)
from harness import Report
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.paired.joint import joint_counts
from offdiag.metrics.paired.proportions import paired_score_interval
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.score_curves import score_curves
from offdiag.services.decisions.thresholds import threshold_costs_of
from offdiag.services.samples.noise import noisy_pairs
from offdiag.services.samples.suspects import Family, RankedDataset

TWO = LabelSet(("c0", "c1"))
APART = 1.5
"""How far the scores of both classes are apart, in their standard deviations."""
LEFT = 0.25
"""Share of the optimism of a chosen threshold that cross-validation may leave."""


@dataclass(frozen=True)
class ThresholdCell:
    """Scores are calibrated, so that the threshold in use, which the costs imply, is the best."""

    n: int
    share: float
    dearer: float

    @property
    def name(self) -> str:
        return f"n {self.n:,}, positive {self.share:g}, a miss costs {self.dearer:g}"

    @property
    def in_use(self) -> float:
        return 1 / (1 + self.dearer)

    def place(self, threshold: float) -> float:
        """The normal score that a probability is made of."""
        odds = log(threshold / (1 - threshold)) if 0 < threshold < 1 else np.inf
        return (odds - log(self.share / (1 - self.share)) + APART**2 / 2) / APART

    def cost(self, threshold: float | None) -> float:
        """What flagging from a threshold on costs per example of the population."""
        place = np.inf if threshold is None else self.place(threshold)
        missed, alarmed = self.share * ndtr(place - APART), (1 - self.share) * ndtr(-place)
        return float(missed * self.dearer + alarmed)


def threshold_choice(cell: ThresholdCell, rng: Rng) -> tuple[float, float, float]:
    """Whether the interval of the change excludes 0, and how far the cost of the cheapest
    threshold and the cross-validated one are below the true cost of that threshold."""
    actual = (rng.random(cell.n) < cell.share).astype(np.uint8)
    score = APART * (rng.normal(size=cell.n) + APART * (actual - 0.5))
    p = expit(score + log(cell.share / (1 - cell.share))).astype(np.float32)
    predicted = (p >= np.float32(cell.in_use)).astype(np.uint8)
    matrix = ConfusionMatrix(count_pairs(actual, predicted, n_classes=2), TWO)
    forecasts = Forecasts(actual, p[:, np.newaxis], n_classes=2, positive=1)
    (curve,) = (each for each in score_curves(forecasts, matrix.counts) if each.code == 1)
    costs = cost_matrix([[0.0, 1.0], [cell.dearer, 0.0]], labels=TWO)
    found = threshold_costs_of(curve, matrix, costs, prevalence=None)
    if found.best is None or found.crossfitted is None or found.change is None:
        return (np.nan,) * 3
    high = found.change.difference.ci_high
    truth = cell.cost(found.best_threshold)
    apparent = truth - (found.best.cost.value or 0.0)
    return float(high is not None and high < 0), apparent, truth - found.crossfitted.mean_cost


THRESHOLDS = (
    ThresholdCell(100, 0.3, 1),
    ThresholdCell(200, 0.3, 5),
    ThresholdCell(300, 0.05, 10),
    ThresholdCell(1_000, 0.1, 10),
    ThresholdCell(1_000, 0.3, 1),
)


def leading_model(cell: Cell, rng: Rng, *, n_first: int) -> tuple[bool]:
    """Whether the best run of one of two equally good models is said to lead."""
    actual, runs = cell.draw(rng)
    models = runs[:n_first], runs[n_first:]
    best = tuple(max(each, key=lambda run: int((run == actual).sum())) for each in models)
    found = RankedDataset(
        tuple(Family("", "", "", len(each), has_probabilities=False) for each in models),
        (),
        actual.astype(np.int64),
        np.arange(cell.n),
        tuple(each.astype(np.int64) for each in best),
        (None, None),
        None,
        None,
    )
    (pair,) = noisy_pairs(found)
    return (pair.share is not None,)


COMMITS = 30


def gate_series(cell: Cell, rng: Rng) -> tuple[float, ...]:
    """Whether the first of equally good runs passes `low(diff(overall_accuracy))>0` against the
    champion, whether any does, each becoming the champion, and by how much the accuracy of the
    last champion, and the highest one, exceed the true one."""
    actual, runs = cell.draw(rng)
    champion, passed = runs[0], []
    for run in runs[1:]:
        joint = joint_counts(actual=actual, first=champion, second=run, labels=labels_of(cell))
        low, _ = paired_score_interval(joint.accuracy, confidence=1 - LEVEL).at()
        passed.append(low is not None and low > 0)
        champion = run if passed[-1] else champion
    truth = cell.recalls[0][0]
    right = [float((run == actual).mean()) - truth for run in (champion, *runs)]
    return float(passed[0]), float(any(passed)), right[0], max(right)


def report_thresholds(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    rows, shares = [], []
    jobs = [(cell, n_sets) for cell in THRESHOLDS]
    for cell, found in zip(THRESHOLDS, pool.map(_thresholds, jobs), strict=True):
        excluded, *above = np.nanmean(found, axis=0)
        shares.append(np.array(above) / cell.cost(cell.in_use))
        rates = percent(np.array([excluded, *shares[-1]]))
        columns = ("interval excludes 0", "optimism, % of the cost", "left by cross-validation")
        row: dict[str, Any] = {"cell": cell.name, "sets": len(found)}
        rows.append(row | dict(zip(columns, rates, strict=True)))
    report.tables["chosen thresholds"] = rows
    optimism, left = np.mean(shares, axis=0)
    report.goal(
        "cheapest threshold: share of its optimism that cross-validation leaves",
        measured=round(float(left / optimism), 3),
        wanted=LEFT,
        at_least=False,
    )


def _thresholds(job: tuple[ThresholdCell, int]) -> NDArray[np.float64]:
    cell, n_sets = job
    rng = np.random.default_rng([n_sets, cell.n, int(cell.dearer)])
    return np.array([threshold_choice(cell, rng) for _ in range(n_sets)])


def report_leads(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    rows, whole = [], []
    for n_first, n_others in ((1, 1), (10, 1), (30, 1), (5, 5)):
        cells = [tied(n, even(2), n_first + n_others) for n in (300, 2_000)]
        simulate = partial(leading_model, n_first=n_first)
        for cell, found in run_cells(pool, simulate, cells, 3 * n_sets):
            name = f"n {cell.n:,}, best of {n_first} and of {n_others}"
            (rate,) = percent(found.mean(axis=0))
            rows.append({"cell": name, "sets": len(found), "one leads": rate})
            whole.append(found)
    report.tables["chosen runs"] = rows
    name = "best runs of two equally good models: one leads"
    hold_level(report, name, np.concatenate(whole)[:, 0])


def report_gates(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    cells = [tied(n, even(2), COMMITS + 1) for n in (200, 1_000)]
    rows, firsts = [], []
    for cell, found in run_cells(pool, gate_series, cells, n_sets):
        first, any_passed, champion, highest = percent(found.mean(axis=0))
        rows.append({"cell": f"n {cell.n:,}, {COMMITS} runs", "sets": len(found),
                     "the first passes": first, "any passes": any_passed,
                     "last champion above its true value, points": champion,
                     "highest above its true value": highest})  # fmt: skip
        firsts.append(found[:, 0])
    report.tables["chosen champions"] = rows
    name = "equally good runs: one gate on low(diff(overall_accuracy))>0 passes"
    hold_level(report, name, np.concatenate(firsts))


SECTIONS = (report_thresholds, report_leads, report_gates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, help="data sets of each cell, without writing")
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        report = Report("claims-chosen", libraries=("numpy", "scipy"))
        for section in SECTIONS:
            section(report, pool, options.sets or 2 * SETS)
        if options.sets is not None:
            for row in (row for rows in report.tables.values() for row in rows):
                print(row)
            return
        path = report.save()
        write_page(json.loads(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
