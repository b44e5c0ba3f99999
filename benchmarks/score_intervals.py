"""Intervals of scores, sets and weights, compared with resampling the cases one by one.

One resample of the cases is timed with scikit-learn and multiplied by the replicates that the ends
of an interval need, because running all would take minutes.
"""

from __future__ import annotations

import numpy as np
from harness import Report, Work, fitted_exponent, wants_everything
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

from offdiag.metrics.intervals.multilabel import multilabel_intervals
from offdiag.metrics.intervals.scores import class_score_intervals, score_intervals
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.suite import class_metrics, score_metrics

Floats = NDArray[np.float64]
N_SAMPLES = 100_000
REPLICATES = 300
"""The smallest number of resamples that the ends of an interval need."""


def main() -> None:
    everything = wants_everything("Measure intervals of scores and sets of labels.")
    report = Report("score_intervals", libraries=("numpy", "scikit-learn"))
    measure(report, "one score for two classes", event(N_SAMPLES), wanted=5)
    measure(report, "a score for each of 10 classes", classes(N_SAMPLES, 10), wanted=20)
    measure_sets(report)
    measure_growth(report, largest=10**6 if everything else 10**5)
    report.save()


def measure(report: Report, what: str, forecasts: Forecasts, *, wanted: float) -> None:
    timings = report.measure(
        f"{what}, N={forecasts.n_samples:.0e}",
        {
            "metrics": lambda: (score_metrics(forecasts), class_metrics(forecasts)),
            "intervals of all": all_intervals(forecasts),
            "scikit-learn, one resample": one_resample(forecasts),
        },
        turns=3,
    )
    report.fact(f"{what}: replicates", REPLICATES)
    by_cases = REPLICATES * timings["scikit-learn, one resample"].median_s
    report.goal(
        f"{what}: resampling cases with scikit-learn",
        measured=by_cases / timings["intervals of all"].median_s,
        wanted=wanted,
    )


def measure_sets(report: Report) -> None:
    for n_labels, share in ((10, 0.2), (100, 0.03)):
        rng = np.random.default_rng(n_labels)
        actual = rng.random((N_SAMPLES, n_labels)) < share
        predicted = actual ^ (rng.random(actual.shape) < share / 5)
        report.measure(
            f"sets of labels, q={n_labels}, N={N_SAMPLES:.0e}",
            {"intervals of all": sets_of(actual, predicted)},
            turns=3,
        )


def measure_growth(report: Report, *, largest: int) -> None:
    """Time must grow no faster than the cases; with many, fewer resamples limit it."""
    sizes = [size for size in (10**3, 10**4, 10**5, 10**6) if size <= largest]
    timings = report.measure(
        "growth, one score for two classes",
        {f"N={size:.0e}": all_intervals(event(size)) for size in sizes},
        turns=3,
    )
    report.goal(
        "growth exponent",
        measured=fitted_exponent(sizes, list(timings.values())),
        wanted=1.15,
        at_least=False,
    )


def all_intervals(forecasts: Forecasts) -> Work:
    return lambda: (score_intervals(forecasts, seed=1), class_score_intervals(forecasts))


def sets_of(actual: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> Work:
    return lambda: multilabel_intervals(actual, predicted)


def one_resample(forecasts: Forecasts) -> Work:
    """Areas, average precision of the classes, log loss and Brier score of one resample."""
    rng = np.random.default_rng(1)
    table = forecasts.table.astype(np.float64)
    table /= table.sum(axis=1, keepdims=True)

    def work() -> object:
        drawn = rng.integers(0, forecasts.n_samples, forecasts.n_samples)
        actual, scores = forecasts.actual[drawn], table[drawn]
        several = forecasts.n_classes > 2
        return (
            roc_auc_score(actual, scores if several else scores[:, 1], multi_class="ovr"),
            [
                average_precision_score(actual == code, scores[:, code])
                for code in range(forecasts.n_classes)
            ],
            log_loss(actual, scores),
            brier_score_loss(actual, scores if several else scores[:, 1]),
        )

    return work


def event(n_samples: int) -> Forecasts:
    rng = np.random.default_rng(n_samples)
    p = rng.beta(1, 3, n_samples)
    actual = (rng.random(n_samples) < p).astype(np.uint8)
    return Forecasts(actual, p.astype(np.float32).reshape(-1, 1), 2, positive=1)


def classes(n_samples: int, n_classes: int) -> Forecasts:
    rng = np.random.default_rng(n_classes)
    logits = rng.normal(size=(n_samples, n_classes))
    actual = rng.integers(0, n_classes, n_samples)
    logits[np.arange(n_samples), actual] += 1.5
    table: Floats = np.exp(logits)
    table /= table.sum(axis=1, keepdims=True)
    return Forecasts(actual.astype(np.uint8), table.astype(np.float32), n_classes)


if __name__ == "__main__":
    main()
