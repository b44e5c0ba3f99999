"""How often a claimed difference only comes from a choice on the same examples.

The cheapest threshold, the best run of a model, the champion of a series of gates, the best
earlier run and the best alternative to a flagged one are all chosen on the examples by which they
are then judged. All decisions are made by functions of the library itself.

    python benchmarks/claims_chosen.py              some minutes on two cores
    python benchmarks/claims_chosen.py --sets 10    a look; writes nothing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from math import log
from typing import Any

import numpy as np
from claims import (
    LEVEL,
    SETS,
    Cell,
    Rng,
    Section,
    Simulate,
    even,
    hold_level,
    labels_of,
    measure,
    name_of,
    percent,
    rare,
    run_cells,
    tied,
)
from harness import Report
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.many_runs.best_runs import metric_contest
from offdiag.metrics.many_runs.confidence_set import best_set_and_pairs
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.paired.class_changes import confidence_together
from offdiag.metrics.paired.hypothesis_tests import mcnemar
from offdiag.metrics.paired.joint_counts import PairedRates, joint_counts
from offdiag.metrics.paired.proportions import paired_score_interval
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.score_curves import score_curves
from offdiag.metrics.suite import evaluate_stack
from offdiag.reports.changes import CHANGING_CLASS_METRICS, find_changes
from offdiag.reports.snapshot import ClassFigures, RunFigures
from offdiag.services.champions.drops import drops_in
from offdiag.services.decisions.thresholds import change_of, threshold_costs_of
from offdiag.services.samples.noise import noisy_pairs
from offdiag.services.samples.suspects import Family, RankedDataset
from offdiag.store.ranked_runs import RankedRun

TWO = LabelSet(("c0", "c1"))
APART = 1.5
"""How far apart the scores of both classes are, in their standard deviations."""
LEFT = 0.25
"""Share of the optimism of a chosen threshold that may remain after cross-validation."""


@dataclass(frozen=True)
class ThresholdCell:
    """Scores are calibrated, so that the current threshold, which the costs imply, is the best."""

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
        """The normal score that gives a probability."""
        odds = log(threshold / (1 - threshold)) if 0 < threshold < 1 else np.inf
        return (odds - log(self.share / (1 - self.share)) + APART**2 / 2) / APART

    def cost(self, threshold: float | None) -> float:
        """What flagging from a threshold on costs per example of the population."""
        place = np.inf if threshold is None else self.place(threshold)
        missed, alarmed = self.share * ndtr(place - APART), (1 - self.share) * ndtr(-place)
        return float(missed * self.dearer + alarmed)


def threshold_choice(cell: ThresholdCell, rng: Rng) -> tuple[float, float, float]:
    """Whether the interval of the change excludes 0, and how far the cost of the cheapest
    threshold and its cross-validated cost are below its true cost."""
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
    # The library withholds this interval, for the reason measured here.
    high = change_of(found.change.joint, costs, prevalence=None).difference.ci_high
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
    """Whether equally good runs pass `low(diff(overall_accuracy))>0` against the champion.

    The first of them, and any of them if each winner becomes the champion; and how far the
    accuracy of the last champion, and the highest accuracy, exceed the true one.
    """
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


def figures(name: str, run: NDArray[np.uint8], actual: NDArray[np.uint8], at: int) -> RunFigures:
    """The figures of a run, as reports use them."""
    n_classes = int(max(actual.max(), run.max())) + 1
    counts: NDArray[np.int64] = count_pairs(actual, run, n_classes=n_classes)
    matrix = ConfusionMatrix(counts, LabelSet(tuple(f"c{code:02}" for code in range(n_classes))))
    suite = evaluate_stack(counts, ordinal=False)
    found = suite_intervals(matrix, seed=0, replicates=200)
    classes = tuple(
        ClassFigures(
            label,
            int(matrix.actual[code]),
            {
                key: found.per_class[key].at(code).around(suite.per_class[key].at(code))
                for key in CHANGING_CLASS_METRICS
            },
        )
        for code, label in enumerate(matrix.labels.names)
    )
    metrics = {
        key: found.aggregate[key].at().around(suite.aggregate[key].at()) for key in OF_REPORTS
    }
    logged_at = START + timedelta(days=at)
    facts = (f"{name} {at}", name, name, logged_at, 1, 1, f"{name} {at}")
    return RunFigures(*facts, len(actual), len(actual), metrics, classes)


OF_REPORTS = ("overall_accuracy", "balanced_accuracy", "macro_f1", "mcc")
START = datetime(2026, 1, 1, tzinfo=UTC)


def successors(cell: Cell, rng: Rng) -> tuple[bool]:
    """Whether a report calls any run different from the previous one of the same name."""
    actual, runs = cell.draw(rng)
    halves = runs[::2], runs[1::2]
    before, after = (
        [figures(f"model {at}", run, actual, day) for at, run in enumerate(half)]
        for day, half in enumerate(halves)
    )
    return (bool(find_changes(before, after, OF_REPORTS).beyond),)


def drops(cell: Cell, rng: Rng) -> tuple[bool]:
    """Whether any run of a model is called worse than the best earlier one."""
    actual, predicted = cell.draw(rng)
    runs = PairedRuns(actual, tuple(predicted), labels_of(cell))
    _, tests = best_set_and_pairs(metric_contest(runs, ["balanced_accuracy"]), seed=0)
    if tests is None:
        return (False,)
    ranked = [
        RankedRun(
            str(at), "run", "model", START + timedelta(days=at), at, True, MetricValue(value)
        )
        for at, value in enumerate(tests.values.tolist())
    ]
    return (any(True for _ in drops_in(ranked, tests)),)


def alternatives(cell: Cell, rng: Rng) -> tuple[bool, bool]:
    """Whether any run is said to find more of the rarest class than the first one, by p and by
    the interval of the gain."""
    actual, (first, *others) = cell.draw(rng)
    rare_class = actual == cell.n_classes - 1
    right = first[rare_class] == actual[rare_class]
    called = []
    for other in others:
        also = other[rare_class] == actual[rare_class]
        lost, won = int((right & ~also).sum()), int((also & ~right).sum())
        if won <= lost:
            continue
        rates = PairedRates(np.asarray(lost), np.asarray(won), np.asarray(len(right)))
        level = confidence_together(1 - LEVEL, len(others))
        low, _ = paired_score_interval(rates, confidence=level).at()
        called.append((mcnemar(lost, won).exact_p * len(others) < LEVEL, (low or 0.0) > 0))
    return any(p for p, _ in called), any(low for _, low in called)


def report_successors(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    cells = [
        tied(n, shares, 2 * n_models)
        for n, shares, n_models in ((300, even(2), 5), (1_000, even(5), 5), (1_000, rare(0.05), 2))
    ]
    report_claims(
        report,
        pool,
        n_sets,
        cells,
        simulate=successors,
        columns=("a run changed since the edition",),
    )


def report_drops(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    cells = [tied(n, shares, 10) for n in (300, 2_000) for shares in (even(2), rare(0.1))]
    report_claims(
        report,
        pool,
        n_sets,
        cells,
        simulate=drops,
        columns=("a run is worse than the best before it",),
    )


def report_alternatives(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    cells = [tied(n, rare(0.1), n_runs) for n in (300, 2_000) for n_runs in (2, 20)]
    columns = "an alternative finds more, by p", "an alternative finds more, by its interval"
    report_claims(report, pool, n_sets, cells, simulate=alternatives, columns=columns)


def report_claims(
    report: Report,
    pool: ProcessPoolExecutor,
    n_sets: int,
    cells: Sequence[Cell],
    *,
    simulate: Simulate,
    columns: tuple[str, ...],
) -> None:
    """A table of the cells; goals are the pooled rate of each claim."""
    rows, whole = [], []
    for cell, found in run_cells(pool, simulate, cells, n_sets):
        name = f"{name_of(cell)}, {len(cell.recalls)} runs"
        rates = dict(zip(columns, percent(found.mean(axis=0)), strict=True))
        rows.append({"cell": name, "sets": len(found), **rates})
        whole.append(found)
    pooled = np.concatenate(whole)
    for at, column in enumerate(columns):
        hold_level(report, f"equally good runs: {column}", pooled[:, at])
    report.tables[columns[0]] = rows


RECORDS: Mapping[str, tuple[Section, ...]] = {
    "claims-chosen": (report_thresholds, report_leads, report_gates),
    "claims-before": (report_successors, report_drops, report_alternatives),
}
"""Sections that are measured and saved together, by the name of their result."""


if __name__ == "__main__":
    measure(RECORDS, 2 * SETS, about=__doc__)
