"""Finding slices: its time, how often it finds what is not there, and what it finds that is.

The anchor is a search of the lattice of slices by SliceLine's score (Sagadeeva and Boehm 2021,
SIGMOD 2290, eq. 4, alpha .95) over all slices of one and two columns. A score has no error rate,
so its threshold is the one that 5 % of runs without any effect exceed: both then claim something
in at most 5 % of such runs. A planted slice is found where the first slice that is claimed is it.

    python benchmarks/slices.py            about five minutes on one core
    python benchmarks/slices.py --sets 20  a look; writes nothing
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import log2

import numpy as np
from harness import Report
from numpy.typing import NDArray

from offdiag.metrics.slices.counts import (
    CodedColumn,
    SliceCounts,
    count_slices,
    outcomes_of_classes,
)
from offdiag.metrics.slices.finder import SliceFindings, find_slices

SETS = 200
ALPHA = 0.95
LEVEL = 0.05
Terms = tuple[tuple[str, str], ...]
Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class Setting:
    """Samples, shares and recalls of the classes, and how many values each column has."""

    n: int
    shares: tuple[float, ...]
    recalls: tuple[float, ...]
    columns: tuple[int, ...]

    @property
    def text(self) -> str:
        return f"n {self.n}, K {len(self.shares)}, {len(self.columns)} columns"


EVEN = (0.5, 0.5)
SETTINGS = (
    Setting(200, (1 / 3,) * 3, (0.97,) * 3, (3, 3, 3)),
    Setting(1_000, EVEN, (0.85, 0.85), (4, 4, 4)),
    Setting(1_000, (0.9, 0.1), (0.9, 0.7), (4, 4, 4)),
    Setting(500, (0.5, 0.3, 0.2), (0.9, 0.8, 0.6), (3,) * 5),
    Setting(3_000, (0.6, 0.3, 0.08, 0.02), (0.95, 0.8, 0.7, 0.5), (5,) * 6),
)


@dataclass(frozen=True)
class Planted:
    """A drop of the recall of some classes where all columns of `terms` have their value."""

    name: str
    setting: Setting
    terms: tuple[tuple[int, int], ...]
    classes: tuple[int, ...]
    drop: float


RARE = Setting(2_000, (0.85, 0.15), (0.95, 0.85), (4, 4, 4))
BALANCED = Setting(2_000, EVEN, (0.88, 0.88), (4, 4, 4))
PLANTED = (
    Planted("all classes, one column", BALANCED, ((1, 2),), (0, 1), 0.08),
    Planted("one class of two, one column", BALANCED, ((1, 2),), (1,), 0.12),
    Planted("rare class, one column", RARE, ((1, 2),), (1,), 0.25),
    Planted("all classes, two columns", BALANCED, ((0, 1), (2, 3)), (0, 1), 0.20),
    Planted("rare class, two columns", RARE, ((0, 1), (2, 3)), (1,), 0.55),
)


def drawn(
    setting: Setting, seed: int, planted: Planted | None = None
) -> tuple[SliceCounts, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    k = len(setting.shares)
    actual = rng.choice(k, setting.n, p=setting.shares)
    codes = [rng.integers(0, size, setting.n).astype(np.uint8) for size in setting.columns]
    recall = np.asarray(setting.recalls)[actual]
    if planted is not None:
        where = np.isin(actual, planted.classes)
        for column, value in planted.terms:
            where &= codes[column] == value
        recall = recall - planted.drop * where
    wrong = (actual + rng.integers(1, k, setting.n)) % k
    predicted = np.where(rng.random(setting.n) < recall, actual, wrong)
    return counted(codes, setting.columns, actual, predicted, rng.integers(0, 2, setting.n))


def counted(
    codes: list[Codes],
    sizes: tuple[int, ...],
    actual: NDArray[np.int64],
    predicted: NDArray[np.int64],
    half: NDArray[np.int64],
) -> tuple[SliceCounts, NDArray[np.int64]]:
    k = int(actual.max()) + 1
    columns = [
        CodedColumn(f"c{at}", tuple(map(str, range(size))), each, np.eye(size, dtype=np.bool_))
        for at, (each, size) in enumerate(zip(codes, sizes, strict=True))
    ]
    outcomes = outcomes_of_classes(actual, predicted, n_classes=k, part=half, n_parts=2)
    counts = count_slices(columns, outcomes, n_samples=len(actual), n_parts=2)
    matrix = np.bincount(actual * k + predicted, minlength=k * k).reshape(k, k)
    return counts, matrix


def claimed(found: SliceFindings) -> Terms | None:
    first = next(iter(found.worst(1)), None)
    return first.terms if first is not None and first.is_significant else None


def slice_line(counts: SliceCounts) -> tuple[Terms, float]:
    """The slice with the highest score, and the score."""
    numbers, total = counts.numbers.sum(axis=1), counts.total.sum(axis=0)
    size, errors = numbers[:, 0], numbers[:, 0] - numbers[:, 1]
    all_errors = total[0] - total[1]
    mean = (errors / np.maximum(size, 1)) / (all_errors / total[0])
    score = ALPHA * (mean - 1) - (1 - ALPHA) * (total[0] / np.maximum(size, 1) - 1)
    score[size < max(32, total[0] // 100)] = -np.inf
    best = int(np.argmax(score))
    return counts.terms(best), float(score[best])


def measure_null(report: Report, sets: int) -> None:
    rows = []
    for setting in SETTINGS:
        hits = sum(claimed(find_slices(*drawn(setting, seed))) is not None for seed in range(sets))
        rows.append({"setting": setting.text, "runs with a finding": hits / sets})
        print(rows[-1])
    report.tables["no effect"] = rows
    rates = [float(row["runs with a finding"]) for row in rows]  # type: ignore[arg-type]
    allowed = LEVEL + 2 * (LEVEL * (1 - LEVEL) / sets) ** 0.5
    report.goal(
        "largest share of runs with a finding", measured=max(rates), wanted=allowed, at_least=False
    )


def measure_planted(report: Report, sets: int) -> None:
    rows: list[dict[str, object]] = []
    for planted in PLANTED:
        quiet = [slice_line(drawn(planted.setting, 10_000 + s)[0])[1] for s in range(sets)]
        threshold = float(np.quantile(quiet, 1 - LEVEL))
        wanted = tuple((f"c{column}", str(value)) for column, value in planted.terms)
        ours = anchor = 0
        for seed in range(sets):
            counts, matrix = drawn(planted.setting, seed, planted)
            ours += claimed(find_slices(counts, matrix)) == wanted
            terms, score = slice_line(counts)
            anchor += terms == wanted and score > threshold
        rows.append({"planted": planted.name, "offdiag": ours / sets, "lattice": anchor / sets})
        print(rows[-1])
    report.tables["planted"] = rows
    mine, theirs = (float(np.mean([row[key] for row in rows])) for key in ("offdiag", "lattice"))
    report.goal(
        "planted slices found, beside the lattice search",
        measured=mine / max(theirs, 1e-9),
        wanted=1,
    )


def measure_time(report: Report, largest: int) -> None:
    """CPU seconds of counting and of testing, and how they grow."""
    seconds = {}
    sizes = (largest // 4, largest // 2, largest)
    for n in sizes:
        setting = Setting(n, (1 / 7,) * 7, (0.8,) * 7, (5, 6) * 10)
        rng = np.random.default_rng(0)
        actual = rng.integers(0, 7, n)
        predicted = np.where(rng.random(n) < 0.8, actual, rng.integers(0, 7, n))
        codes = [rng.integers(0, size, n).astype(np.uint8) for size in setting.columns]
        half = rng.integers(0, 2, n)
        started = time.process_time()
        counts, matrix = counted(codes, setting.columns, actual, predicted, half)
        seconds[n] = time.process_time() - started
        started = time.process_time()
        find_slices(counts, matrix)
        report.facts[f"CPU s to test {len(counts)} slices, N={n:.0e}"] = (
            time.process_time() - started
        )
        report.facts[f"CPU s to count {len(counts)} slices, N={n:.0e}"] = seconds[n]
        print(n, len(counts), seconds[n])
    report.goal(
        f"CPU s to count, N={largest:.0e}", measured=seconds[largest], wanted=2, at_least=False
    )
    steps = [log2(seconds[b] / seconds[a]) for a, b in pairwise(sizes)]
    exponent = float(np.mean(steps))
    report.goal("growth exponent in samples", measured=exponent, wanted=1.15, at_least=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=SETS)
    sets = parser.parse_args().sets
    report = Report("slices", libraries=("numpy", "scipy"))
    steps: tuple[Callable[[], None], ...] = (
        lambda: measure_time(report, 10**6),
        lambda: measure_planted(report, sets),
        lambda: measure_null(report, sets),
    )
    for step in steps:
        step()
    if sets == SETS:
        report.save()


if __name__ == "__main__":
    main()
