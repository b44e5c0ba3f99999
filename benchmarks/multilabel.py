"""Evaluating sets of labels, compared with scikit-learn and the algorithm case by case."""

from __future__ import annotations

import numpy as np
from harness import Report, Work, fitted_exponent, ratio, wants_everything
from numpy.typing import NDArray
from sklearn import metrics as sk

from offdiag.metrics.multilabel.examples import example_metrics
from offdiag.metrics.multilabel.label_averages import label_averages
from offdiag.metrics.multilabel.ranking import ranking_metrics, sum_over_rankings
from offdiag.metrics.multilabel.tally import tally_sets

Sets = NDArray[np.bool_]
# Labels, cases, share of labels in a set: few dense, many sparse.
SHAPES = ((10, 10**5, 0.3), (20, 10**5, 0.1), (100, 10**5, 0.03), (1000, 10**4, 0.005))
LABEL_SCORES = (sk.precision_score, sk.recall_score, sk.f1_score, sk.jaccard_score)


def main() -> None:
    everything = wants_everything("Measure the evaluation of sets of labels.")
    report = Report("multilabel", libraries=("numpy", "scipy", "scikit-learn"))
    for n_labels, n_samples, density in SHAPES:
        measure_matrix(report, n_labels, n_samples, density)
    measure_averages(report, *SHAPES[1])
    measure_ranking(report, n_labels=20, n_samples=10**4)
    measure_growth(report, largest=10**6 if everything else 10**5)
    report.save()


def measure_matrix(report: Report, n_labels: int, n_samples: int, density: float) -> None:
    actual, predicted = sets(n_labels, n_samples, density)
    some = min(n_samples, 2_000)
    timings = report.measure(
        f"matrix, q={n_labels}, N={n_samples:.0e}",
        {
            "tally and matrix": tally_and_matrix(actual, predicted),
            f"case by case, first {some} cases": lambda: case_by_case(
                actual[:some], predicted[:some]
            ),
        },
        turns=5,
    )
    loop = ratio(timings, f"case by case, first {some} cases", "tally and matrix")
    report.goal(
        f"Algorithm 1 case by case, q={n_labels}, N={n_samples:.0e}",
        measured=loop * n_samples / some,
        wanted=5,
    )


def measure_averages(report: Report, n_labels: int, n_samples: int, density: float) -> None:
    """Everything scikit-learn has for sets, and everything in offdiag (with the matrix)."""
    actual, predicted = sets(n_labels, n_samples, density)
    timings = report.measure(
        f"all averages, q={n_labels}, N={n_samples:.0e}",
        {
            "offdiag, 30 keys and the matrix": everything_of(actual, predicted),
            "scikit-learn, 22 of them": lambda: scikit_learn_of(actual, predicted),
        },
        turns=5,
        fewer_turns={"scikit-learn, 22 of them": 3},
    )
    report.goal(
        f"scikit-learn's averages, q={n_labels}, N={n_samples:.0e}",
        measured=ratio(timings, "scikit-learn, 22 of them", "offdiag, 30 keys and the matrix"),
        wanted=10,
    )


def measure_ranking(report: Report, *, n_labels: int, n_samples: int) -> None:
    actual, _ = sets(n_labels, n_samples, 0.1)
    scores = np.random.default_rng(1).random(actual.shape)
    timings = report.measure(
        f"ranking, q={n_labels}, N={n_samples:.0e}",
        {
            "offdiag": lambda: ranking_metrics(sum_over_rankings(actual, scores)),
            "scikit-learn": lambda: (
                sk.coverage_error(actual, scores),
                sk.label_ranking_loss(actual, scores),
                sk.label_ranking_average_precision_score(actual, scores),
            ),
        },
        turns=5,
    )
    report.goal(
        f"scikit-learn's rankings, q={n_labels}, N={n_samples:.0e}",
        measured=ratio(timings, "scikit-learn", "offdiag"),
        wanted=20,
    )


def measure_growth(report: Report, *, largest: int) -> None:
    """Cost must grow at most linearly with the number of cases."""
    actual, predicted = sets(20, largest, 0.1)
    sizes = [size for size in (10**4, 10**5, 10**6) if size <= largest]
    timings = report.measure(
        "growth, q=20",
        {f"N={size:.0e}": tally_and_matrix(actual[:size], predicted[:size]) for size in sizes},
        turns=5,
    )
    report.goal(
        "growth exponent",
        measured=fitted_exponent(sizes, list(timings.values())),
        wanted=1.15,
        at_least=False,
    )


def tally_and_matrix(actual: Sets, predicted: Sets) -> Work:
    return lambda: tally_sets(actual, predicted).matrix()


def everything_of(actual: Sets, predicted: Sets) -> Work:
    def work() -> object:
        tally = tally_sets(actual, predicted)
        return tally.matrix(), example_metrics(tally.examples), label_averages(tally.labels)

    return work


def scikit_learn_of(actual: Sets, predicted: Sets) -> list[object]:
    found: list[object] = [
        sk.accuracy_score(actual, predicted),
        sk.hamming_loss(actual, predicted),
    ]
    for score in LABEL_SCORES:
        found += [
            score(actual, predicted, average=average, zero_division=zero_division)
            for average, zero_division in (
                ("micro", 0),
                ("macro", 0),
                ("weighted", 0),
                ("samples", 0),
                ("samples", 1),
            )
        ]
    return found


def case_by_case(actual: Sets, predicted: Sets) -> NDArray[np.float64]:
    """Algorithm 1 as published, one outer product per case."""
    total = np.zeros((actual.shape[1], actual.shape[1]))
    for true, answer in zip(actual, predicted, strict=True):
        if not true.any() or not answer.any():
            continue
        missed, spurious = true & ~answer, answer & ~true
        n_predicted = np.count_nonzero(answer)
        if not missed.any() and not spurious.any():
            total += np.diag(true)
        elif not missed.any():
            diagonal = np.count_nonzero(true) * np.diag(true)
            total += (np.outer(true, spurious) + diagonal) / n_predicted
        elif not spurious.any():
            total += np.outer(missed, answer) / n_predicted + np.diag(answer)
        else:
            shared = np.outer(missed, spurious) / np.count_nonzero(spurious)
            total += shared + np.diag(true & answer)
    return total


def sets(n_labels: int, n_samples: int, density: float) -> tuple[Sets, Sets]:
    """Independent labels; a prediction differs in about a third as many labels as are true."""
    generator = np.random.default_rng(20_26)
    actual = generator.random((n_samples, n_labels)) < density
    predicted = actual ^ (generator.random((n_samples, n_labels)) < density / 3)
    return actual, predicted


if __name__ == "__main__":
    main()
