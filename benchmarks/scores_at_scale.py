"""Everything that an evaluation stores about scores, compared with values from scikit-learn.

    python benchmarks/scores_at_scale.py [--full]

One score of two classes, 10^6 samples, and a probability for each of ten. `--full` adds 10^7
samples of one score in a process of its own, with the memory it takes in addition to the scores.
Times are processor times, which other work on the machine hardly changes.
"""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import numpy as np
from harness import Report, Timing, Work, in_a_process, ratio, wants_everything
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    log_loss,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.score_curves import score_curves
from offdiag.services.evaluation.compute import of_scores

TURNS = 5
LARGEST = 10**7
CHILD = f"from scores_at_scale import measure_here; measure_here({LARGEST})"


def main() -> None:
    everything = wants_everything("Measure evaluations of scores of many samples.")
    report = Report("scores_at_scale", libraries=("numpy", "scipy", "scikit-learn"))
    measure_event(report)
    measure_classes(report)
    if everything:
        measure_memory(report)
    report.save()


def measure_event(report: Report) -> None:
    forecasts = event(10**6)
    found = in_processor_time(
        {"offdiag": evaluation(forecasts), "scikit-learn": points(forecasts)}
    )
    report.record("one score, N=1e+06, processor time", found)
    report.goal(
        "one score, N=1e+06: everything kept, s",
        measured=found["offdiag"].median_s,
        wanted=1.5,
        at_least=False,
    )
    report.goal(
        "one score, N=1e+06: beside scikit-learn's metrics and curves without intervals",
        measured=ratio(found, "offdiag", "scikit-learn"),
        wanted=0.5,
        at_least=False,
    )


def measure_classes(report: Report) -> None:
    forecasts = classes(10**6, 10)
    found = in_processor_time({"offdiag": evaluation(forecasts)}, turns=2)
    report.record("ten probabilities, N=1e+06, processor time", found)
    report.goal(
        "ten probabilities, N=1e+06: everything kept, s",
        measured=found["offdiag"].median_s,
        wanted=8,
        at_least=False,
    )


def measure_memory(report: Report) -> None:
    found = in_a_process(CHILD)
    report.goal(
        "one score, N=1e+07: everything kept, s",
        measured=found["seconds"],
        wanted=12,
        at_least=False,
    )
    report.goal(
        "one score, N=1e+07: memory beyond the scores, MB",
        measured=found["megabytes"],
        wanted=200,
        at_least=False,
    )


def measure_here(n_samples: int) -> None:
    """Evaluate in this process, and print its time and memory as JSON."""
    evaluation(event(1_000))()
    forecasts = event(n_samples)
    Path("/proc/self/clear_refs").write_text("5")  # Resets the peak.
    before = _peak_kib()
    started = process_time()
    evaluation(forecasts)()
    seconds = process_time() - started
    print(json.dumps({"seconds": seconds, "megabytes": (_peak_kib() - before) * 1024 / 1e6}))


def _peak_kib() -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def in_processor_time(variants: dict[str, Work], turns: int = TURNS) -> dict[str, Timing]:
    """Processor seconds of each variant, in turns, after one untimed call of each."""
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(turns + 1):
        for name, work in variants.items():
            started = process_time()
            work()
            if turn:
                seconds[name].append(process_time() - started)
    return {name: Timing(name, tuple(found)) for name, found in seconds.items()}


def evaluation(forecasts: Forecasts) -> Work:
    """All values, intervals and curves, from scores without cached results."""

    def work() -> object:
        fresh = Forecasts(
            forecasts.actual, forecasts.scores, forecasts.n_classes, forecasts.positive
        )
        counts = np.eye(fresh.n_classes, dtype=np.int64)
        return of_scores(fresh), score_curves(fresh, counts)

    return work


def points(forecasts: Forecasts) -> Work:
    """The metrics and curves of scikit-learn that an evaluation also has."""
    actual, scores = forecasts.actual, forecasts.scores[:, 0]

    def work() -> object:
        return (
            roc_auc_score(actual, scores),
            average_precision_score(actual, scores),
            log_loss(actual, scores),
            brier_score_loss(actual, scores),
            roc_curve(actual, scores),
            precision_recall_curve(actual, scores),
            calibration_curve(actual, scores, n_bins=15),
        )

    return work


def event(n_samples: int) -> Forecasts:
    rng = np.random.default_rng(n_samples)
    logit = rng.standard_normal(n_samples, dtype=np.float32) - 1
    actual = (rng.random(n_samples, dtype=np.float32) < 1 / (1 + np.exp(-logit))).astype(np.uint8)
    p = 1 / (1 + np.exp(-1.3 * logit))
    return Forecasts(actual, p.astype(np.float32).reshape(-1, 1), 2, positive=1)


def classes(n_samples: int, n_classes: int) -> Forecasts:
    rng = np.random.default_rng(n_classes)
    logits = rng.standard_normal((n_samples, n_classes), dtype=np.float32)
    actual = rng.integers(0, n_classes, n_samples)
    logits[np.arange(n_samples), actual] += 1.5
    table = np.exp(logits)
    table /= table.sum(axis=1, keepdims=True)
    return Forecasts(actual.astype(np.uint8), table, n_classes)


if __name__ == "__main__":
    main()
