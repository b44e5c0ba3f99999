"""Intervals from counts, compared with resampling the cases one by one.

One replicate of a row bootstrap is timed and multiplied by 2,000, because running all would take
minutes to hours. Both sides compute macro F1 and MCC; the intervals of the whole suite, which no
other library offers, are timed as well.
"""

from __future__ import annotations

import numpy as np
from harness import Report, Work, ratio, wants_everything
from numpy.typing import NDArray
from sklearn.metrics import f1_score, matthews_corrcoef

from offdiag.domain.labels import LabelSet
from offdiag.metrics.aggregates import AGGREGATES
from offdiag.metrics.aggregates.classified import Classified
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.delta import aggregate_gradients, aggregate_standard_errors
from offdiag.metrics.intervals.draws import percentile_bounds, replicated
from offdiag.metrics.intervals.posterior import Evidence, drawn_tallies
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.paired.difference import paired_differences
from offdiag.metrics.paired.joint_counts import joint_counts
from offdiag.metrics.tally import Tally, tally

N_SAMPLES = 1_000_000
REPLICATES = 2_000
KEYS = ("macro_f1", "mcc")
WANTED_RATIO = {10: 20_000, 100: 150}

Codes = NDArray[np.uint16]


def main() -> None:
    everything = wants_everything("Measure intervals.")
    report = Report("bootstrap", libraries=("numpy", "scikit-learn"))
    for n_classes in (2, 10, 100):
        measure(report, n_classes, turns=7 if everything else 3)
    measure_delta(report, 1000, turns=5 if everything else 3)
    measure_paired(report, 10, turns=5 if everything else 3)
    if everything:
        measure_growth(report)
    report.save()


def measure(report: Report, n_classes: int, *, turns: int) -> None:
    actual, predicted = codes(n_classes)
    matrix = matrix_of(actual, predicted, n_classes)
    timings = report.measure(
        f"K={n_classes}, {np.count_nonzero(matrix.counts)} occupied cells",
        {
            "2,000 draws of the matrix": drawn(matrix),
            "delta method": delta(matrix),
            "whole suite with intervals": lambda: suite_intervals(matrix, seed=1),
            "one replicate of rows, our kernel": rows_with_kernel(actual, predicted, n_classes),
            "one replicate of rows, scikit-learn": rows_with_scikit_learn(actual, predicted),
        },
        turns=turns,
        fewer_turns={"one replicate of rows, scikit-learn": 3},
    )
    for name in ("scikit-learn", "our kernel"):
        one = ratio(timings, f"one replicate of rows, {name}", "2,000 draws of the matrix")
        report.fact(f"K={n_classes}: rows with {name} / draws", one * REPLICATES)
    if n_classes in WANTED_RATIO:
        one = ratio(timings, "one replicate of rows, scikit-learn", "2,000 draws of the matrix")
        report.goal(
            f"P7 rows / draws at K={n_classes}",
            measured=one * REPLICATES,
            wanted=WANTED_RATIO[n_classes],
        )


def measure_delta(report: Report, n_classes: int, *, turns: int) -> None:
    actual, predicted = codes(n_classes)
    matrix = matrix_of(actual, predicted, n_classes)
    timings = report.measure(
        f"delta method, K={n_classes}, {np.count_nonzero(matrix.counts)} occupied cells",
        {
            "counting": lambda: count_pairs(actual, predicted, n_classes=n_classes),
            "delta method": delta(matrix),
            "whole suite with intervals": lambda: suite_intervals(matrix, seed=1),
        },
        turns=turns,
    )
    report.goal(
        f"P7 delta / counting at K={n_classes}",
        measured=ratio(timings, "delta method", "counting"),
        wanted=10,
        at_least=False,
    )


def measure_paired(report: Report, n_classes: int, *, turns: int) -> None:
    actual, first = codes(n_classes)
    _, second = codes(n_classes, seed=2)
    labels = LabelSet.numbered(n_classes)
    joint = joint_counts(actual=actual, first=first, second=second, labels=labels)
    report.measure(
        f"two runs, K={n_classes}, {len(joint.counts)} distinct triples",
        {
            "joint counts": lambda: joint_counts(
                actual=actual, first=first, second=second, labels=labels
            ),
            "all differences with intervals": lambda: paired_differences(joint),
        },
        turns=turns,
    )


def measure_growth(report: Report) -> None:
    """The same cells with a thousand times as many cases: the time must not grow with them."""
    matrix = matrix_of(*codes(10), 10)
    large = ConfusionMatrix(matrix.counts * 1_000, matrix.labels)
    report.measure(
        "growth with N, K=10",
        {"N=1e6": drawn(matrix), "N=1e9": drawn(large)},
        turns=7,
    )


def codes(n_classes: int, *, seed: int = 1) -> tuple[Codes, Codes]:
    """A million uniform classes, four predictions in five right, with uniform errors."""
    actual = np.random.default_rng(0).integers(0, n_classes, N_SAMPLES).astype(np.uint16)
    rng = np.random.default_rng(seed)
    wrong = rng.integers(0, n_classes, N_SAMPLES).astype(np.uint16)
    return actual, np.where(rng.random(N_SAMPLES) < 0.8, actual, wrong)


def matrix_of(actual: Codes, predicted: Codes, n_classes: int) -> ConfusionMatrix:
    counts = count_pairs(actual, predicted, n_classes=n_classes)
    return ConfusionMatrix(counts, LabelSet.numbered(n_classes))


def two_values(stack: Tally) -> dict[str, NDArray[np.float64]]:
    subject = Classified(stack, AGGREGATES)
    return {key: replicated(subject.aggregate[key]) for key in KEYS}


def drawn(matrix: ConfusionMatrix) -> Work:
    def compute() -> None:
        evidence = Evidence.of_counts(matrix)
        parts = drawn_tallies(evidence, matrix.labels, with_cells=False, seed=1, draws=REPLICATES)
        values = [two_values(stack) for _, stack in parts]
        for key in KEYS:
            percentile_bounds(np.concatenate([each[key] for each in values]), confidence=0.95)

    return compute


def delta(matrix: ConfusionMatrix) -> Work:
    return lambda: aggregate_standard_errors(matrix, aggregate_gradients(matrix, KEYS))


def rows_with_kernel(actual: Codes, predicted: Codes, n_classes: int) -> Work:
    rng = np.random.default_rng(3)

    def compute() -> None:
        rows = rng.integers(0, N_SAMPLES, N_SAMPLES)
        two_values(tally(count_pairs(actual[rows], predicted[rows], n_classes=n_classes)))

    return compute


def rows_with_scikit_learn(actual: Codes, predicted: Codes) -> Work:
    rng = np.random.default_rng(3)

    def compute() -> None:
        rows = rng.integers(0, N_SAMPLES, N_SAMPLES)
        f1_score(actual[rows], predicted[rows], average="macro")
        matthews_corrcoef(actual[rows], predicted[rows])

    return compute


if __name__ == "__main__":
    main()
