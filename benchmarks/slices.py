"""Finding slices: its time, how often it claims what does not exist, and how much it finds.

The reference is a search of the lattice of slices by SliceLine's score (Sagadeeva and Boehm 2021,
SIGMOD 2290, eq. 4, alpha .95) over all slices of one and two columns. A score has no error rate,
so its threshold is the one that 5 % of runs without any effect exceed: both then claim something
in at most 5 % of such runs. A planted slice counts as found if it is the first slice that is
claimed. The threshold requires simulations with the true recalls, which are unknown for real data.

    python benchmarks/slices.py            about five minutes on one core
    python benchmarks/slices.py --full     ten times as many sets of samples
    python benchmarks/slices.py --sets 20  a look; writes nothing
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log2, sqrt
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from harness import Report
from numpy.typing import NDArray
from result_table import put_between

from offdiag.domain.labels import LabelSet
from offdiag.flags.assessment import assess
from offdiag.flags.rules.slices import slice_verdicts
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.slices.counts import (
    CodedColumn,
    SliceCounts,
    count_slices,
    count_triples,
    outcomes_of_classes,
)
from offdiag.metrics.slices.finder import SliceFindings, find_slices
from offdiag.metrics.slices.weighted import find_weighted_slices

SETS = 250
"""Sets of samples with each planted slice; twice as many without any effect."""
TURNS = 3
LEAD = "planted: found by offdiag less by the lattice, points"
PAGE = Path(__file__).parents[1] / "docs" / "slices.md"
BEGIN, END = "<!-- The simulation begins. -->", "<!-- The simulation ends. -->"
FIRST_QUIET = 10_000_000
"""From here on, seeds are those of the sets that give the threshold of the reference."""
ALPHA = 0.95
LEVEL = 0.05
Terms = tuple[tuple[str, str], ...]
Codes = NDArray[np.uint8]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """Samples, shares and recalls of the classes, and how many values each column has.

    Values are equally frequent, or `skewed`: each half as frequent as the one before.
    """

    n: int
    shares: tuple[float, ...]
    recalls: tuple[float, ...]
    columns: tuple[int, ...]
    skewed: bool = False

    @property
    def text(self) -> str:
        plural = "columns" if len(self.columns) > 1 else "column"
        columns = f"{len(self.columns)} {'skewed ' if self.skewed else ''}{plural}"
        rarest = f"rarest {min(self.shares):.2g}"
        return f"n {self.n:,}, K {len(self.shares)}, {rarest}, {columns} of {self.columns[0]}"

    def column(self, rng: np.random.Generator, size: int) -> Codes:
        if not self.skewed:
            return rng.integers(0, size, self.n).astype(np.uint8)
        weights = 0.5 ** np.arange(size)
        return rng.choice(size, self.n, p=weights / weights.sum()).astype(np.uint8)


EVEN = (0.5, 0.5)
SETTINGS = (
    Setting(200, (1 / 3,) * 3, (0.97,) * 3, (3, 3, 3)),
    Setting(1_000, EVEN, (0.85, 0.85), (4, 4, 4)),
    Setting(1_000, (0.9, 0.1), (0.9, 0.7), (4, 4, 4)),
    Setting(500, (0.5, 0.3, 0.2), (0.9, 0.8, 0.6), (3,) * 5),
    Setting(600, (0.7, 0.3), (0.95, 0.9), (4,) * 4, skewed=True),
    Setting(3_000, (0.6, 0.3, 0.08, 0.02), (0.95, 0.8, 0.7, 0.5), (5,) * 6),
    Setting(1_000, EVEN, (0.97, 0.97), (50,)),
    Setting(700, EVEN, (0.9, 0.9), (50,)),
)


@dataclass(frozen=True)
class Planted:
    """A drop of the recall of some classes in samples with the values of all `terms`."""

    name: str
    setting: Setting
    terms: tuple[tuple[int, int], ...]
    classes: tuple[int, ...]
    drop: float

    @property
    def text(self) -> str:
        rarest = min(self.setting.shares)
        return f"{self.name} (rarest {rarest:g}; {100 * self.drop:.0f} points lower)"


RARE = Setting(2_000, (0.85, 0.15), (0.95, 0.85), (4, 4, 4))
BALANCED = Setting(2_000, EVEN, (0.88, 0.88), (4, 4, 4))
PLANTED = (
    Planted("all classes, one column", BALANCED, ((1, 2),), (0, 1), 0.08),
    Planted("one class of two, one column", BALANCED, ((1, 2),), (1,), 0.12),
    Planted("rare class, one column", RARE, ((1, 2),), (1,), 0.25),
    Planted("all classes, two columns", BALANCED, ((0, 1), (2, 3)), (0, 1), 0.20),
    Planted("rare class, two columns", RARE, ((0, 1), (2, 3)), (1,), 0.55),
)


@dataclass(frozen=True)
class Samples:
    """Codes of n samples, actual and predicted, and of their columns."""

    setting: Setting
    actual: NDArray[np.int64]
    predicted: NDArray[np.int64]
    columns: list[CodedColumn]

    @property
    def matrix(self) -> NDArray[np.int64]:
        k = len(self.setting.shares)
        cells = self.actual * k + self.predicted
        return np.bincount(cells, minlength=k * k).reshape(k, k)


def samples_of(setting: Setting, seed: int, planted: Planted | None = None) -> Samples:
    rng = np.random.default_rng(seed)
    k = len(setting.shares)
    actual = rng.choice(k, setting.n, p=setting.shares)
    codes = [setting.column(rng, size) for size in setting.columns]
    recall = np.asarray(setting.recalls)[actual]
    if planted is not None:
        where = np.isin(actual, planted.classes)
        for column, value in planted.terms:
            where &= codes[column] == value
        recall = recall - planted.drop * where
    wrong = (actual + rng.integers(1, k, setting.n)) % k
    predicted = np.where(rng.random(setting.n) < recall, actual, wrong)
    return Samples(setting, actual, predicted, coded(codes, setting.columns))


def coded(codes: list[Codes], sizes: tuple[int, ...]) -> list[CodedColumn]:
    return [
        CodedColumn(f"c{at}", tuple(map(str, range(size))), each, np.eye(size, dtype=np.bool_))
        for at, (each, size) in enumerate(zip(codes, sizes, strict=True))
    ]


def drawn(
    setting: Setting, seed: int, planted: Planted | None = None
) -> tuple[SliceCounts, NDArray[np.int64]]:
    samples = samples_of(setting, seed, planted)
    # Findings do not depend on the halves, which only say whether a slice is confirmed.
    return counted(samples, np.zeros_like(samples.actual), 1), samples.matrix


def counted(
    samples: Samples,
    part: NDArray[np.int64],
    n_parts: int,
    count: Callable[..., SliceCounts] = count_slices,
) -> SliceCounts:
    actual, predicted = samples.actual, samples.predicted
    k = len(samples.setting.shares)
    outcomes = outcomes_of_classes(actual, predicted, n_classes=k, part=part, n_parts=n_parts)
    return count(samples.columns, outcomes, n_samples=len(actual), n_parts=n_parts)


def claimed(found: SliceFindings) -> Terms | None:
    first = next(iter(found.worst(1)), None)
    return first.terms if first is not None and first.is_significant else None


def is_flagged(found: SliceFindings, matrix: NDArray[np.int64]) -> bool:
    """Whether a slice of the run gets a flag of its own, apart from those of its classes."""
    labels = tuple(map(str, range(len(matrix))))
    of_run = assess(ConfusionMatrix(matrix, LabelSet(labels))).verdicts
    return bool(slice_verdicts(found, labels, of_run))


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


def percent(hits: NDArray[np.bool_]) -> str:
    """The rate and its standard error."""
    rate = float(hits.mean())
    return f"{100 * rate:.1f} ± {100 * sqrt(rate * (1 - rate) / len(hits)):.1f} %"


def measure_null(report: Report, sets: int) -> None:
    rows: list[dict[str, object]] = []
    allowed = 100 * (LEVEL + 2 * sqrt(LEVEL * (1 - LEVEL) / sets))
    for setting in SETTINGS:
        samples = (drawn(setting, seed) for seed in range(sets))
        tested = [(find_slices(counts, matrix), matrix) for counts, matrix in samples]
        hits = np.array([claimed(found) is not None for found, _ in tested])
        flags = np.array([is_flagged(found, matrix) for found, matrix in tested])
        report.goal(
            f"no effect: any slice found, {setting.text}, %",
            measured=100 * float(hits.mean()),
            wanted=allowed,
            at_least=False,
        )
        report.goal(
            f"no effect: any slice flagged, {setting.text}, %",
            measured=100 * float(flags.mean()),
            wanted=allowed,
            at_least=False,
        )
        row = {"setting": setting.text, "runs": sets, "any slice found": percent(hits)}
        rows.append({**row, "flag F16": percent(flags)})
    report.tables["no effect"] = rows


def found_in_triples(samples: Samples, _: np.random.Generator) -> SliceFindings:
    """All slices of the first three columns, of pairs of them, and of all three."""
    first = replace(samples, columns=samples.columns[:3])
    counts = counted(first, np.zeros_like(first.actual), 1, count_triples)
    return find_slices(counts, first.matrix)


def found_by_weight(samples: Samples, rng: np.random.Generator) -> SliceFindings:
    """All slices with varying weights, those of the last class four times as large."""
    n, k = samples.setting.n, len(samples.setting.shares)
    weight = rng.lognormal(0, 1, n) * np.where(samples.actual == k - 1, 4.0, 1.0)
    cells = samples.actual * k + samples.predicted
    matrix: Floats = np.bincount(cells, weight, minlength=k * k).reshape(k, k).astype(np.float64)
    return find_weighted_slices(
        samples.columns,
        samples.actual,
        samples.predicted,
        weight,
        half=rng.integers(0, 2, n),
        matrix=matrix,
    )


OTHERS = {
    "no effect, crosses of three columns": found_in_triples,
    "no effect, weighted samples": found_by_weight,
}


def measure_others(report: Report, sets: int) -> None:
    """The same with three columns crossed on request, and with weights."""
    allowed = 100 * (LEVEL + 2 * sqrt(LEVEL * (1 - LEVEL) / sets))
    for title, look in OTHERS.items():
        rows: list[dict[str, object]] = []
        fewest = 3 if look is found_in_triples else 1
        for setting in (each for each in SETTINGS if len(each.columns) >= fewest):
            rng = np.random.default_rng(FIRST_QUIET)
            looked = (look(samples_of(setting, seed), rng) for seed in range(sets))
            hits = np.array([claimed(found) is not None for found in looked])
            report.goal(
                f"{title}: any slice found, {setting.text}, %",
                measured=100 * float(hits.mean()),
                wanted=allowed,
                at_least=False,
            )
            rows.append({"setting": setting.text, "runs": sets, "any slice found": percent(hits)})
        report.tables[title] = rows


def measure_planted(report: Report, sets: int) -> None:
    rows: list[dict[str, object]] = []
    thresholds = {setting: threshold_of(setting, 2 * sets) for setting in (BALANCED, RARE)}
    found: list[NDArray[np.bool_]] = []
    for planted in PLANTED:
        wanted = tuple((f"c{column}", str(value)) for column, value in planted.terms)
        both = np.zeros((2, sets), dtype=np.bool_)
        for seed in range(sets):
            counts, matrix = drawn(planted.setting, seed, planted)
            terms, score = slice_line(counts)
            both[0, seed] = claimed(find_slices(counts, matrix)) == wanted
            both[1, seed] = terms == wanted and score > thresholds[planted.setting]
        found.append(both)
        ours, anchor = map(percent, both)
        rows.append({"worse on": planted.text, "runs": sets, "offdiag": ours, "lattice": anchor})
        report.fact(
            f"planted in {planted.name}: found by offdiag, by the lattice", f"{ours}, {anchor}"
        )
    report.tables["one slice with lower recall"] = rows
    all_found = np.stack(found).astype(np.float64)
    mine, theirs = all_found.mean(axis=(0, 2))
    gaps = all_found[:, 0] - all_found[:, 1]
    error = sqrt(float((gaps.var(axis=1) / sets).sum())) / len(found)
    report.fact(LEAD, f"{100 * (mine - theirs):+.1f} ± {100 * error:.1f}")
    report.goal(
        "planted slices found, beside the lattice search",
        measured=float(mine / max(theirs, 1e-9)),
        wanted=1,
    )


def threshold_of(setting: Setting, sets: int) -> float:
    """The score of SliceLine that 5 % of sets without any effect exceed."""
    scores = [slice_line(drawn(setting, FIRST_QUIET + seed)[0])[1] for seed in range(sets)]
    return float(np.quantile(scores, 1 - LEVEL))


def measure_time(report: Report, largest: int) -> None:
    """Processor seconds of counting and of testing, and how they grow; medians of turns."""
    seconds = {}
    sizes = (largest // 4, largest // 2, largest)
    for n in sizes:
        setting = Setting(n, (1 / 7,) * 7, (0.8,) * 7, (5, 6) * 10)
        rng = np.random.default_rng(0)
        actual = rng.integers(0, 7, n)
        predicted = np.where(rng.random(n) < 0.8, actual, rng.integers(0, 7, n))
        codes = [setting.column(rng, size) for size in setting.columns]
        half = rng.integers(0, 2, n)
        samples = Samples(setting, actual, predicted, coded(codes, setting.columns))
        turns = []
        for _ in range(TURNS):
            started = time.process_time()
            counts = counted(samples, half, 2)
            turns.append(time.process_time() - started)
        seconds[n] = median(turns)
        report.fact(f"CPU s to count {len(counts):,} slices, N={n:.1e}", seconds[n])
    started = time.process_time()
    find_slices(counts, samples.matrix)
    report.fact(f"CPU s to test {len(counts):,} slices", time.process_time() - started)
    report.goal(
        f"CPU s to count, N={largest:.0e}", measured=seconds[largest], wanted=2, at_least=False
    )
    steps = [log2(seconds[b] / seconds[a]) for a, b in pairwise(sizes)]
    exponent = float(np.mean(steps))
    report.goal("growth exponent in samples", measured=exponent, wanted=1.15, at_least=False)


def page_text(result: dict[str, Any]) -> str:
    """For the page: place and time, the tables of a result, and how long counting took."""
    machine, facts = result["machine"], result["facts"]
    parts = [f"{result['date']}, offdiag {result['versions']['offdiag']}."]
    for name, rows in result["tables"].items():
        columns = list(rows[0])
        parts += [
            f"\n**{name.capitalize()}**\n",
            f"| {' | '.join(columns)} |",
            f"| --- |{' --: |' * (len(columns) - 1)}",
            *(f"| {' | '.join(str(row[each]) for each in columns)} |" for row in rows),
        ]
    parts.append(f"\nFound by offdiag less by the lattice, over all kinds: {facts[LEAD]} points.")
    parts.append(
        f"\nTime on one of {machine['cores']} cores ({machine['processor']}), at a load of "
        f"{machine['load_1_min']}, median of {TURNS}:\n"
    )
    times = {name: seconds for name, seconds in facts.items() if name.startswith("CPU s")}
    parts += ["| | |", "| --- | --: |"]
    parts += [f"| {name} | {seconds:.2f} |" for name, seconds in times.items()]
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, help="sets of samples, without writing")
    parser.add_argument("--full", action="store_true", help="ten times as many sets")
    options = parser.parse_args()
    sets = options.sets or SETS * (10 if options.full else 1)
    report = Report("slices", libraries=("numpy", "scipy"))
    measure_time(report, 10**6)
    measure_planted(report, sets)
    measure_null(report, 2 * sets)
    measure_others(report, sets)
    if options.sets is None:
        path = report.save()
        put_between(PAGE, BEGIN, END, page_text(json.loads(path.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
