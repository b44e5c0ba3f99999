"""The suite of metrics from confusion matrices: alone, in stacks, compared with other libraries.

PyCM computes about 130 statistics where the suite computes 83, scikit-learn a report, MCC and
kappa; this should be kept in mind when reading the ratios.
"""

from __future__ import annotations

import warnings

import numpy as np
import pycm
from harness import Report, Work, ratio, wants_everything
from numpy.typing import NDArray
from sklearn.metrics import classification_report, cohen_kappa_score, matthews_corrcoef

from offdiag.metrics.suite import evaluate_stack

Matrices = NDArray[np.int64]


def main() -> None:
    everything = wants_everything("Measure the metric suite.")
    report = Report("suite", libraries=("numpy", "scikit-learn", "pycm", "scipy"))
    for n_classes, stack_size in ((2, 1000), (10, 1000), (100, 100)):
        measure(report, n_classes, stack_size, turns=7 if everything else 5)
    if everything:
        measure(report, 1000, 4, turns=5)
    measure_exactness(report)
    report.save()


def measure(report: Report, n_classes: int, stack_size: int, *, turns: int) -> None:
    stack = matrices(n_classes, stack_size)
    timings = report.measure(
        f"K={n_classes}",
        {
            f"suite, stack of {stack_size}": suite_of(stack),
            "suite, one matrix": suite_of(stack[0]),
            "PyCM, one matrix": pycm_of(stack[0]),
            "scikit-learn report + MCC + kappa, one matrix": scikit_learn_of(stack[0]),
        },
        turns=turns,
    )
    stacked = timings[f"suite, stack of {stack_size}"].median_s / stack_size
    pycm_s = timings["PyCM, one matrix"].median_s
    sklearn_s = timings["scikit-learn report + MCC + kappa, one matrix"].median_s
    report.fact(f"K={n_classes}: microseconds a matrix in the stack", stacked * 1e6)
    report.fact(f"K={n_classes}: PyCM / stacked suite", pycm_s / stacked)
    report.fact(f"K={n_classes}: scikit-learn / stacked suite", sklearn_s / stacked)
    alone = ratio(timings, "PyCM, one matrix", "suite, one matrix")
    report.fact(f"K={n_classes}: PyCM / one suite", alone)
    if n_classes == 10:
        report.goal("P5 PyCM / stack at K=10", measured=pycm_s / stacked, wanted=300)
        report.goal("P5 scikit-learn / stack at K=10", measured=sklearn_s / stacked, wanted=1500)
        report.goal("P6 PyCM / one at K=10", measured=alone, wanted=2)
    if n_classes == 100:
        report.goal("P6 PyCM / one at K=100", measured=alone, wanted=40)


def measure_exactness(report: Report) -> None:
    """What switching to Python integers costs when int64 would overflow."""
    small = matrices(10, 100)
    report.measure(
        "exact integers, stack of 100, K=10",
        {"int64": suite_of(small), "Python integers": suite_of(small * 10**12)},
        turns=5,
    )


def matrices(n_classes: int, how_many: int) -> Matrices:
    """Counts of classifiers that are right four times in five."""
    generator = np.random.default_rng(20_26)
    errors = generator.integers(0, 20, (how_many, n_classes, n_classes))
    correct = generator.integers(60, 100, (how_many, n_classes)) * n_classes
    return errors + correct[..., np.newaxis] * np.eye(n_classes, dtype=np.int64)


def suite_of(counts: Matrices) -> Work:
    def compute_every_key() -> None:
        suite = evaluate_stack(counts, ordinal=True)
        for quantities in (suite.aggregate, suite.per_class):
            for key in quantities:
                quantities[key]

    return compute_every_key


def pycm_of(counts: Matrices) -> Work:
    table = {actual: dict(enumerate(row)) for actual, row in enumerate(counts.tolist())}

    def compute() -> None:
        matrix = pycm.ConfusionMatrix(matrix=table)
        _ = matrix.class_stat, matrix.overall_stat

    return compute


def scikit_learn_of(counts: Matrices) -> Work:
    """scikit-learn accepts no matrix, so its cells are passed as weighted cases."""
    size = len(counts)
    actual, predicted = (axis.ravel() for axis in np.indices((size, size)))
    weights = counts.ravel()

    def compute() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classification_report(actual, predicted, sample_weight=weights, output_dict=True)
            matthews_corrcoef(actual, predicted, sample_weight=weights)
            cohen_kappa_score(actual, predicted, sample_weight=weights)

    return compute


if __name__ == "__main__":
    main()
