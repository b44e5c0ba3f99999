"""Discrimination and calibration of scores, compared with scikit-learn and SciPy."""

from __future__ import annotations

import numpy as np
from harness import Report, Work, fitted_exponent, ratio, wants_everything
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu
from sklearn.metrics import average_precision_score, roc_auc_score

from offdiag.metrics.scores.curves import cost_curve
from offdiag.metrics.scores.discrimination import (
    auc_averages,
    average_precision,
    pairwise_wins,
    roc_auc,
)
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.ranking import rank_scores
from offdiag.metrics.scores.suite import score_metrics

Outcomes = NDArray[np.bool_]
Floats = NDArray[np.floating]
TYPES = {"float32": np.float32, "float64": np.float64}


def main() -> None:
    everything = wants_everything("Measure metrics of scores.")
    report = Report("auc", libraries=("numpy", "scipy", "scikit-learn"))
    largest = 10**7 if everything else 10**6
    for name in TYPES:
        measure_area(report, name, n_samples=largest)
    measure_ties(report, n_samples=largest)
    measure_classes(report, n_samples=10**5, n_classes=10)
    measure_growth(report, largest=largest)
    report.save()


def measure_area(report: Report, name: str, *, n_samples: int) -> None:
    is_positive, scores = cases(n_samples, name)
    timings = report.measure(
        f"distinct {name} scores, N={n_samples:.0e}",
        {
            "roc_auc": area_of(is_positive, scores),
            "average_precision": lambda: average_precision(rank_scores(is_positive, scores)),
            "cost_curve": lambda: cost_curve(rank_scores(is_positive, scores)),
            "all metrics of scores": all_of(is_positive, scores),
            "scikit-learn roc_auc_score": lambda: roc_auc_score(is_positive, scores),
            "scikit-learn average_precision_score": lambda: average_precision_score(
                is_positive, scores
            ),
            "SciPy mannwhitneyu": lambda: mannwhitneyu(
                scores[is_positive], scores[~is_positive], method="asymptotic"
            ),
        },
        turns=5,
    )
    report.goal(
        f"scikit-learn's area from {name}, N={n_samples:.0e}",
        measured=ratio(timings, "scikit-learn roc_auc_score", "roc_auc"),
        wanted=3,
    )
    report.goal(
        f"scikit-learn's average precision from {name}, N={n_samples:.0e}",
        measured=ratio(timings, "scikit-learn average_precision_score", "average_precision"),
        wanted=2,
    )


def measure_ties(report: Report, *, n_samples: int) -> None:
    """A hundred distinct scores, as calibrated or tree-based models give."""
    is_positive, scores = cases(n_samples, "float32")
    tied = np.round(scores, 2)
    timings = report.measure(
        f"100 distinct scores, N={n_samples:.0e}",
        {
            "roc_auc": area_of(is_positive, tied),
            "all metrics of scores": all_of(is_positive, tied),
            "scikit-learn roc_auc_score": lambda: roc_auc_score(is_positive, tied),
        },
        turns=5,
    )
    report.goal(
        f"scikit-learn's area with ties, N={n_samples:.0e}",
        measured=ratio(timings, "scikit-learn roc_auc_score", "roc_auc"),
        wanted=3,
    )


def measure_classes(report: Report, *, n_samples: int, n_classes: int) -> None:
    generator = np.random.default_rng(20_26)
    actual = generator.integers(0, n_classes, n_samples)
    table = generator.random((n_samples, n_classes)) + np.eye(n_classes)[actual] / 2
    table /= table.sum(axis=1, keepdims=True)
    timings = report.measure(
        f"{n_classes} classes, N={n_samples:.0e}",
        {
            "four averaged areas": lambda: auc_averages(
                pairwise_wins(Forecasts(actual, table, n_classes=n_classes))
            ),
            "scikit-learn, four averaged areas": lambda: [
                roc_auc_score(actual, table, multi_class=kind, average=average)
                for kind in ("ovr", "ovo")
                for average in ("macro", "weighted")
            ],
        },
        turns=5,
        fewer_turns={"scikit-learn, four averaged areas": 3},
    )
    report.goal(
        f"scikit-learn's four areas, K={n_classes}, N={n_samples:.0e}",
        measured=ratio(timings, "scikit-learn, four averaged areas", "four averaged areas"),
        wanted=5,
    )


def measure_growth(report: Report, *, largest: int) -> None:
    """Cost should grow hardly faster than the number of cases."""
    is_positive, scores = cases(largest, "float32")
    sizes = [size for size in (10**4, 10**5, 10**6, 10**7) if size <= largest]
    timings = report.measure(
        "growth of all metrics of scores",
        {f"N={size:.0e}": all_of(is_positive[:size], scores[:size]) for size in sizes},
        turns=5,
    )
    report.goal(
        "growth exponent of all metrics of scores",
        measured=fitted_exponent(sizes, list(timings.values())),
        wanted=1.15,
        at_least=False,
    )


def area_of(is_positive: Outcomes, scores: Floats) -> Work:
    return lambda: roc_auc(rank_scores(is_positive, scores))


def all_of(is_positive: Outcomes, scores: Floats) -> Work:
    actual, column = is_positive.astype(np.uint8), scores.reshape(-1, 1)
    return lambda: score_metrics(Forecasts(actual, column, n_classes=2, positive=1))


def cases(n_samples: int, name: str) -> tuple[Outcomes, Floats]:
    """Three positive cases in ten, with overlapping scores in [0, 1]."""
    generator = np.random.default_rng(20_26)
    is_positive = generator.random(n_samples) < 0.3
    scores = 0.8 * generator.random(n_samples) + 0.2 * is_positive
    return is_positive, scores.astype(TYPES[name])


if __name__ == "__main__":
    main()
