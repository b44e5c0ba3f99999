"""How often chance leads to a claim when a question is repeated, or after an earlier choice.

Flags of a class next to a small one, reports on runs of which one never predicts a class, labels
that are added under many runs, baselines that were chosen for being highest, and the first page
viewed again and again. All runs are equally good. All decisions are made by functions of the
library itself.

    python benchmarks/claims_looks.py              some minutes on two cores
    python benchmarks/claims_looks.py --sets 10    a look; writes nothing
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
from claims import (
    SETS,
    Cell,
    Codes,
    Rng,
    Section,
    even,
    labels_of,
    measure,
    name_of,
    percent,
    rare,
    run_cells,
    tied,
)
from claims_chosen import OF_REPORTS, START, figures, report_claims, successors
from flag_rates import Shares, rates
from harness import Report

from offdiag.domain.values import MetricValue
from offdiag.flags.rules.reference import PairedRecall, regression_verdicts
from offdiag.metrics.many_runs.best_runs import metric_contest
from offdiag.metrics.many_runs.confidence_set import best_set_and_pairs
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.metrics.paired.joint_counts import joint_counts
from offdiag.reports.changes import find_changes
from offdiag.services.champions.drops import newest_drops
from offdiag.store.ranked_runs import RankedRun, RankedRuns

FEW_OTHERS = (0.5, 0.3, 0.1, 0.02)
"""Shares of the second of two classes, whose recall the first is compared with."""
N_DRAWS = 4_000


def report_flags(report: Report, _: ProcessPoolExecutor, n_sets: int) -> None:
    """F4 on two classes: any gap claimed if there is none, and proved if it is 20 points."""
    n_draws, rng = min(N_DRAWS, 100 * n_sets), np.random.default_rng(4)
    rows: list[dict[str, Any]] = []
    for n in (60, 200, 1_000):
        for share in FEW_OTHERS:
            shares = (1 - share, share)
            equal = rates(Shares(shares, (0.8, 0.8), n), n_draws=n_draws, rng=rng)
            apart = rates(Shares(shares, (0.7, 0.9), n), n_draws=n_draws, rng=rng)
            rows.append(
                {
                    "cell": f"n {n:,}, others {share:g}",
                    "sets": n_draws,
                    "no gap: any": round(equal["F4"] + equal["F4'"], 2),
                    "a gap of 20 points: proved": round(apart["F4"], 2),
                }
            )
    report.tables["flags beside few others"] = rows
    for column, level in (("no gap: any", 1.0), ("a gap of 20 points: proved", 5.0)):
        report.goal(
            f"F4, highest rate of a cell, {column}, %",
            measured=max(float(row[column]) for row in rows),
            wanted=level + 2 * (level * (100 - level) / n_draws) ** 0.5,
            at_least=False,
        )


def never_predicted(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    cells = [Cell(n, rare(6 / n), ((0.995, 0.2),) * 10) for n in (300, 1_000)]
    columns = ("a run changed since the edition",)
    report_claims(report, pool, n_sets // 3, cells, simulate=successors, columns=columns)


LABELLED = 0.1
"""Share of the samples that have labels at first."""


def added_labels(cell: Cell, rng: Rng) -> tuple[bool]:
    """Whether any run is said to have changed when the other labels are added."""
    actual, runs = cell.draw(rng)
    n_first = round(LABELLED * cell.n)
    before, after = (
        [
            replace(figures(f"m{at}", run[:n], actual[:n], 0), input_digest=str(n))
            for at, run in enumerate(runs)
        ]
        for n in (n_first, cell.n)
    )
    return (bool(find_changes(before, after, OF_REPORTS).beyond),)


def report_added(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    cells = [tied(3_000, shares, n_runs) for n_runs in (2, 20) for shares in (even(2), rare(0.1))]
    columns = ("a run changed with more labels",)
    report_claims(report, pool, n_sets // 3, cells, simulate=added_labels, columns=columns)


CANDIDATES = 30


def baselines(cell: Cell, rng: Rng) -> tuple[float, float, float]:
    """Shares of later runs that F14 flags against two baselines, and whether it flags any.

    The baselines are the first of that many runs, and the most accurate of them; "any" is against
    the first.
    """
    actual, runs = cell.draw(rng)
    candidates, later = runs[:CANDIDATES], runs[CANDIDATES:]
    highest = max(candidates, key=lambda run: int((run == actual).sum()))

    def flagged(baseline: Codes) -> list[bool]:
        return [
            bool(regression_verdicts(PairedRecall.of(joint), baseline="baseline"))
            for run in later
            for joint in [
                joint_counts(actual=actual, first=baseline, second=run, labels=labels_of(cell))
            ]
        ]

    of_first = flagged(candidates[0])
    shares = float(np.mean(of_first)), float(np.mean(flagged(highest)))
    return (*shares, float(any(of_first)))


def report_baselines(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    shares = even(2), even(5)
    cells = [tied(n, each, 2 * CANDIDATES) for n in (300, 1_000) for each in shares]
    rows, whole = [], []
    for cell, found in run_cells(pool, baselines, cells, n_sets):
        first, highest, any_run = percent(found.mean(axis=0))
        rows.append(
            {
                "cell": f"{name_of(cell)}, {CANDIDATES} later runs",
                "sets": len(found),
                "runs flagged, baseline is any run": first,
                f"baseline is the highest of {CANDIDATES}": highest,
                "data sets with a flag, baseline is any run": any_run,
            }
        )
        whole.append(found[:, 0])
    report.tables["chosen baselines"] = rows
    report.goal(
        "equally good runs: F14 flags one run against any other, %",
        measured=round(100 * float(np.concatenate(whole).mean()), 2),
        wanted=5.0,
        at_least=False,
    )


VISITS = 12


def visits(cell: Cell, rng: Rng) -> tuple[bool, bool]:
    """Whether the first page shows a drop of the newest run at any visit, and at the last."""
    actual, predicted = cell.draw(rng)
    shown = []
    for n_runs in np.linspace(0, len(predicted), VISITS + 1).astype(int)[1:].tolist():
        runs = PairedRuns(actual, tuple(predicted[:n_runs]), labels_of(cell))
        _, tests = best_set_and_pairs(metric_contest(runs, ["balanced_accuracy"]), seed=0)
        values = () if tests is None else tests.values.tolist()
        ranked = tuple(_ranked(at, value) for at, value in enumerate(values))
        status = RankedRuns("balanced_accuracy", 1, ranked, len(ranked), 0)
        shown.append(bool(newest_drops(status, tests)))
    return any(shown), shown[-1]


def _ranked(at: int, value: float) -> RankedRun:
    logged_at = START + timedelta(days=at)
    return RankedRun(str(at), "run", "model", logged_at, at, True, MetricValue(value))


def report_visits(report: Report, pool: ProcessPoolExecutor, n_sets: int) -> None:
    cells = [tied(n, even(2), 60) for n in (300, 1_000)]
    columns = "a drop at any visit", "at the last visit"
    report_claims(report, pool, n_sets, cells, simulate=visits, columns=columns)


RECORDS: Mapping[str, tuple[Section, ...]] = {
    "claims-looks": (
        report_flags,
        never_predicted,
        report_added,
        report_baselines,
        report_visits,
    ),
}
"""Sections that are measured and saved together, by the name of their result."""


if __name__ == "__main__":
    measure(RECORDS, SETS, about=__doc__)
