"""How often claims about multi-label runs are false.

Runs are drawn so that the truth is known: ties are exchangeable runs, each of which shares 60 % of
its random numbers with the others. Labels of a sample are correlated, and so are the errors on
them: all share a component, with a correlation of .5. All decisions are made by functions of the
library itself. The tables go into docs/contributing/claims.md.

    python benchmarks/claims_sets.py              some minutes on two cores
    python benchmarks/claims_sets.py --sets 10    a look; writes nothing
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np
from claims import SETS, SETS_OF_A_PAIR, SHARED, hold_level, percent, write_page
from harness import Report
from numpy.typing import NDArray
from scipy.special import ndtr

from offdiag.comparison.differences import HEADLINE_OF_SETS
from offdiag.comparison.sets_and_weights import compare_paired_sets
from offdiag.domain.labels import LabelSet
from offdiag.metrics.many_runs.confidence_set import BestSet, confidence_sets
from offdiag.metrics.multilabel.sets import pack_sets
from offdiag.metrics.multilabel_runs.confused import confused_labels
from offdiag.metrics.multilabel_runs.judged_sets import (
    judge_sets_together,
    label_contests,
    set_contest,
)
from offdiag.metrics.multilabel_runs.paired import PairedSets

IN_COMMON = 0.5
"""Correlation of two labels of a sample, and of the errors on them."""

Sets = NDArray[np.bool_]
Rng = np.random.Generator


@dataclass(frozen=True)
class SetCell:
    """A setting: samples, the share of samples with each label, runs, and rates of all labels."""

    n: int
    shares: tuple[float, ...]
    n_runs: int = 2
    recall: float = 0.8
    specificity: float = 0.9
    last_recalls: tuple[float, ...] = ()
    """Recall of the last label by each run, if it is not that of all."""

    @property
    def name(self) -> str:
        name = f"n {self.n:,}, {len(self.shares)} labels, rarest {min(self.shares):.2g}"
        if not self.last_recalls:
            return name
        return f"{name}, recall {' and '.join(f'{each:g}' for each in self.last_recalls)}"

    def draw(self, rng: Rng) -> tuple[Sets, list[Sets]]:
        """Sets of labels, and those predicted by each run, (n, q) each."""
        actual = self._alike(rng) < np.asarray(self.shares)
        common = self._alike(rng)
        runs = []
        for recalls in self.recalls():
            right = np.where(actual, recalls, self.specificity)
            is_shared = rng.random((self.n, 1)) < SHARED
            luck = np.where(is_shared, common, self._alike(rng))
            runs.append(actual ^ (luck >= right))
        return actual, runs

    def recalls(self) -> NDArray[np.float64]:
        """The recall of each label by each run, (m, q)."""
        found = np.full((self.n_runs, len(self.shares)), self.recall)
        if self.last_recalls:
            found[:, -1] = self.last_recalls
        return found

    def _alike(self, rng: Rng) -> NDArray[np.float64]:
        """Uniform numbers (n, q) whose normal scores share a component."""
        of_sample = rng.standard_normal((self.n, 1))
        of_label = rng.standard_normal((self.n, len(self.shares)))
        return np.asarray(ndtr(np.sqrt(IN_COMMON) * of_sample + np.sqrt(1 - IN_COMMON) * of_label))


def falling(n_labels: int) -> tuple[float, ...]:
    """Shares of labels, each rarer than the one before."""
    return tuple(0.5 / (1 + code) for code in range(n_labels))


def paired(actual: Sets, runs: Sequence[Sets]) -> PairedSets:
    names = tuple(f"label {code:02}" for code in range(actual.shape[1]))
    return PairedSets(pack_sets(actual), tuple(map(pack_sets, runs)), LabelSet(names))


def pair_ties(cell: SetCell, rng: Rng) -> tuple[bool, ...]:
    """Whether any primary metric, any recall, or any precision of a label is called different.

    The last value is whether any of the metrics would be by its own interval.
    """
    found = compare_paired_sets(paired(*cell.draw(rng)))
    return (
        any(each.outcome.is_separable for each in found.metrics),
        any(each.outcome.is_separable for each in found.classes["recall"]),
        any(each.outcome.is_separable for each in found.classes["precision"]),
        any(each.outcome.is_separable or each.would_pass_alone for each in found.metrics),
    )


def many_ties(cell: SetCell, rng: Rng) -> tuple[bool, bool]:
    """Whether any run is called worse by a metric, and by the recall of any label."""
    runs = paired(*cell.draw(rng))
    (by_metric,) = confidence_sets([set_contest(runs, HEADLINE_OF_SETS)], seed=0)
    by_label = [found for (found,) in confidence_sets(label_contests(runs), seed=0)]
    return _any_out(by_metric), _any_out(by_label)


OF_LABELS = ("macro_f1", "macro_recall", "micro_f1")


def unlike_misses(cell: SetCell, rng: Rng) -> tuple[float, ...]:
    """Whether the interval of each difference of two runs misses the one without chance."""
    runs = paired(*cell.draw(rng))
    before, after = runs.values(OF_LABELS).T
    test = judge_sets_together(runs, dict(zip(OF_LABELS, (after - before).tolist(), strict=True)))
    shares = np.asarray(cell.shares)
    hits = cell.recalls() * shares
    predicted = hits + (1 - shares) * (1 - cell.specificity)
    true = {
        "macro_f1": (2 * hits / (shares + predicted)).mean(axis=-1),
        "macro_recall": cell.recalls().mean(axis=-1),
        "micro_f1": 2 * hits.sum(axis=-1) / (shares + predicted).sum(axis=-1),
    }
    missed = []
    for key in OF_LABELS:
        low, high = test.statistics[key].ends(test.alone) or (np.nan, np.nan)
        gap = float(true[key][1] - true[key][0])
        missed.append(np.nan if np.isnan(low) else float(not low <= gap <= high))
    return tuple(missed)


def _any_out(found: Sequence[BestSet]) -> bool:
    return any(bool((each.is_tested & ~each.is_in).any()) for each in found)


def confused_ties(cell: SetCell, rng: Rng) -> tuple[bool]:
    """Whether there is any sentence although errors depend on no other label."""
    actual = rng.random((cell.n, len(cell.shares))) < np.asarray(cell.shares)
    right = np.where(actual, cell.recall, cell.specificity)
    predicted = actual ^ (rng.random(actual.shape) >= right)
    return (bool(confused_labels(actual, predicted, paired(actual, [predicted]).labels)),)


Simulate = Callable[[SetCell, Rng], tuple[float, ...]]


def simulated(simulate: Simulate, cell: SetCell, n_sets: int) -> NDArray[np.float64]:
    """One row per data set."""
    rng = np.random.default_rng([n_sets, cell.n, cell.n_runs, len(cell.shares)])
    return np.array([simulate(cell, rng) for _ in range(n_sets)], np.float64)


def _job(arguments: tuple[Simulate, SetCell, int]) -> NDArray[np.float64]:
    return simulated(*arguments)


def run_cells(
    pool: ProcessPoolExecutor, simulate: Simulate, cells: Sequence[SetCell], n_sets: int
) -> Iterator[tuple[SetCell, NDArray[np.float64]]]:
    yield from zip(
        cells, pool.map(_job, [(simulate, cell, n_sets) for cell in cells]), strict=True
    )


def report(
    result: Report,
    pool: ProcessPoolExecutor,
    simulate: Simulate,
    cells: Sequence[SetCell],
    *,
    n_sets: int,
    table: str,
    claim: str,
    columns: tuple[str, ...],
    judged: int,
) -> None:
    """Simulate cells; the first `judged` columns are claims whose pooled rates are goals."""
    rows, whole = [], []
    for cell, found in run_cells(pool, simulate, cells, n_sets):
        rates = percent(np.nanmean(found, axis=0))
        row: dict[str, Any] = {"cell": cell.name, "sets": len(found)}
        rows.append(row | dict(zip(columns, rates, strict=True)))
        whole.append(found)
    pooled = np.concatenate(whole)
    for at, column in enumerate(columns[:judged]):
        hold_level(result, f"{claim}: {column}", pooled[:, at])
    result.tables[table] = rows


SHARES = ((0.5, 0.4, 0.3), falling(8), falling(20))
CELLS = [SetCell(n, shares) for n, shares in product((100, 300, 1_000), SHARES)]


def report_runs(result: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    report(
        result,
        pool,
        pair_ties,
        CELLS,
        n_sets=SETS_OF_A_PAIR * wanted,
        table="set pairs",
        claim="two equally good multi-label runs, called different",
        columns=("any metric", "any recall", "any precision", "any metric alone"),
        judged=3,
    )
    report(
        result,
        pool,
        many_ties,
        [SetCell(cell.n, cell.shares, 5) for cell in CELLS],
        n_sets=4 * wanted,
        table="set ties",
        claim="five equally good multi-label runs, called worse",
        columns=("any metric", "any recall"),
        judged=2,
    )


def report_confused(result: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    report(
        result,
        pool,
        confused_ties,
        CELLS,
        n_sets=SETS_OF_A_PAIR * wanted,
        table="confused",
        claim="errors that depend on no other label",
        columns=("any sentence",),
        judged=1,
    )


def report_differences(result: Report, pool: ProcessPoolExecutor, wanted: int) -> None:
    cells = [
        SetCell(n, (*falling(5), share), 2, 0.9, 0.95, recalls)
        for n, share in ((300, 0.04), (1_000, 0.012), (300, 0.1))
        for recalls in ((0.2, 0.05), (0.1, 0.1), (0.95, 0.85))
    ]
    report(
        result,
        pool,
        unlike_misses,
        cells,
        n_sets=SETS_OF_A_PAIR * wanted,
        table="set differences",
        claim="two multi-label runs, interval missed",
        columns=OF_LABELS,
        judged=len(OF_LABELS),
    )


RECORDS = {
    "claims-sets": report_runs,
    "claims-set-differences": report_differences,
    "claims-confused": report_confused,
}
"""Sections that are measured and saved together, by the name of their result."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, help="data sets of each cell, without writing")
    parser.add_argument("--only", choices=list(RECORDS), help="measure only this result")
    options = parser.parse_args()
    wanted = options.sets or SETS
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for name in [options.only] if options.only else RECORDS:
            result = Report(name, libraries=("numpy", "scipy"))
            result.fact("data sets of a cell", SETS_OF_A_PAIR * wanted)
            RECORDS[name](result, pool, wanted)
            if options.sets is None:
                path = result.save()
                write_page(json.loads(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
