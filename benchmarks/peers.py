"""The same work by offdiag and by tools that teams use today, in one benchmark.

    python benchmarks/peers.py [--full] [--environments FOLDER]

Each peer runs in a process and an environment of its own, because some cannot be installed
together; environments are created on the first call, which takes minutes and some gigabytes. All
processes live for the whole benchmark and take turns, in shuffled order, on the same numbers: ten
classes, four cases in five right, and two classes with calibrated probabilities. If a peer
computes a metric that offdiag defines in the same way, the values have to agree, or the benchmark
stops.

The work is not equal in every respect: offdiag stores predictions and every metric with intervals
and flags; scikit-learn, PyCM and torchmetrics store nothing; MLflow's evaluation draws plots,
Evidently's builds a report. For scores, offdiag's worker gives every value an interval and stores
the curves; of the peers only torchmetrics has intervals, by resampling. `--full` takes more turns.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from math import isclose
from pathlib import Path

import numpy as np
from harness import Report, Timing
from peer_work.processes import Peer, Running, python_of, started

N_CLASSES = 10
INTERVALS = "scores 1e5, intervals"
MLFLOW = ("mlflow>=3.5", "scikit-learn>=1.7")
PEERS: Mapping[str, Peer] = {
    "offdiag": Peer("with_offdiag"),
    "offdiag worker": Peer("with_offdiag_worker"),
    "offdiag server": Peer("with_offdiag_server"),
    "scikit-learn": Peer("with_scikit_learn"),
    "PyCM": Peer("with_pycm"),
    # It sums in single precision.
    "torchmetrics": Peer("with_torchmetrics", ("torch>=2.9", "torchmetrics>=1.8"), 1e-4),
    "MLflow": Peer("with_mlflow", MLFLOW),
    "MLflow server": Peer("with_mlflow_server", MLFLOW, environment="with_mlflow"),
    "Evidently": Peer("with_evidently", ("evidently>=0.7.20", "pandas<3")),
}
EVALUATING = ("offdiag", "scikit-learn", "PyCM", "torchmetrics", "MLflow", "Evidently")
CASES: Mapping[str, Sequence[tuple[str, str]]] = {
    **{
        size: (
            *((name, f"evaluate {size}") for name in EVALUATING),
            ("offdiag worker", f"job {size}"),
            ("offdiag", f"log {size}"),
        )
        for size in ("1e5", "1e6")
    },
    "matrix 1e7": (
        ("offdiag", "matrix 1e7"),
        ("scikit-learn", "matrix 1e7"),
        ("torchmetrics", "matrix 1e7"),
        ("torchmetrics", "matrix 1e7, no checks"),
    ),
    **{
        f"scores {size}": (
            *((name, f"scores {size}") for name in EVALUATING if name != "PyCM"),
            ("offdiag worker", f"job scores {size}"),
        )
        for size in ("1e5", "1e6")
    },
    INTERVALS: (
        ("offdiag worker", "job scores 1e5"),
        ("torchmetrics", INTERVALS),
    ),
    "a run": (
        ("offdiag server", "record 1e5"),
        ("offdiag server", "record and read 1e5"),
        ("MLflow server", "record"),
        ("MLflow", "record"),
    ),
}
"""What is measured side by side; all variants of a case must give the values of the first."""

WANTED: Sequence[tuple[str, str, str, float]] = (
    ("1e6", "offdiag: evaluate 1e6", "scikit-learn: evaluate 1e6", 20),
    ("1e6", "offdiag: evaluate 1e6", "PyCM: evaluate 1e6", 10),
    ("1e6", "offdiag: evaluate 1e6", "torchmetrics: evaluate 1e6", 5),
    ("1e5", "offdiag worker: job 1e5", "MLflow: evaluate 1e5", 10),
    ("1e5", "offdiag worker: job 1e5", "Evidently: evaluate 1e5", 2),
    ("1e6", "offdiag worker: job 1e6", "MLflow: evaluate 1e6", 40),
    ("1e6", "offdiag worker: job 1e6", "Evidently: evaluate 1e6", 10),
    ("matrix 1e7", "offdiag: matrix 1e7", "scikit-learn: matrix 1e7", 80),
    ("matrix 1e7", "offdiag: matrix 1e7", "torchmetrics: matrix 1e7, no checks", 3),
    ("scores 1e6", "offdiag: scores 1e6", "scikit-learn: scores 1e6", 2),
    ("scores 1e6", "offdiag: scores 1e6", "torchmetrics: scores 1e6", 2),
    ("scores 1e6", "offdiag worker: job scores 1e6", "MLflow: scores 1e6", 8),
    ("scores 1e6", "offdiag worker: job scores 1e6", "Evidently: scores 1e6", 8),
    (INTERVALS, "offdiag worker: job scores 1e5", f"torchmetrics: {INTERVALS}", 5),
    ("a run", "offdiag server: record 1e5", "MLflow server: record", 1),
)
"""By case and peer, how many times as long as offdiag the peer has to take at least."""
MEASURED_IN_MEMORY = ("offdiag worker", *EVALUATING)
SHARE_OF_MEMORY = 0.2
"""Limit on the memory that 900,000 more predictions take in a worker, relative to MLflow."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure offdiag beside its peers.")
    parser.add_argument("--full", action="store_true", help="take more turns")
    environments = Path(__file__).parents[1] / "build" / "peers"
    parser.add_argument("--environments", type=Path, default=environments)
    given = parser.parse_args()
    report = Report("peers")
    peaks: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        write_sample(Path(folder))
        running: dict[str, Running] = {}
        for name, peer in PEERS.items():
            python = python_of(peer, given.environments)
            running[name] = stack.enter_context(started(peer, python, Path(folder)))
        for case, variants in CASES.items():
            expect_agreement(variants, running)
            timings = timed(variants, running, turns=9 if given.full else 5)
            report.record(case, timings)
            peaks[case] = {name: process.peak_mib for name, process in running.items()}
            for timing in timings.values():
                report.fact(f"{timing.variant}, ms", round(timing.median_s * 1e3, 3))
    for name, process in running.items():
        runs = ", ".join(f"{library} {text}" for library, text in process.versions.items())
        report.fact(f"{name} runs", runs)
    state_goals(report)
    compare_memory(report, peaks["1e5"], peaks["1e6"])
    report.save()


def write_sample(folder: Path) -> None:
    """Actual and predicted classes as the rows of an int64 array (2, n), one file for each n.

    Files of scores hold the actual classes 0 and 1 and the probabilities of 1 as float64 (2, n).
    """
    rng = np.random.default_rng(20_26)
    for name, n in (("1e5", 10**5), ("1e6", 10**6), ("1e7", 10**7)):
        actual = rng.integers(0, N_CLASSES, n)
        noise = rng.random(n) < 0.2
        predicted = np.where(noise, rng.integers(0, N_CLASSES, n), actual)
        np.save(folder / f"{name}.npy", np.stack([actual, predicted]))
    for name, n in (("1e5", 10**5), ("1e6", 10**6)):
        logit = rng.standard_normal(n) - 2
        # Rounded to single precision, so that ties are the same for every tool.
        scores = (1 / (1 + np.exp(-1.3 * logit))).astype(np.float32)
        happens = rng.random(n) < 1 / (1 + np.exp(-logit))
        np.save(folder / f"scores {name}.npy", np.stack([happens, scores.astype(np.float64)]))


def expect_agreement(variants: Sequence[tuple[str, str]], running: Mapping[str, Running]) -> None:
    """One untimed turn of each; raises `RuntimeError` if values differ."""
    answers = [(name, running[name].turn(case)[1]) for name, case in variants]
    _, reference = answers[0]
    for name, found in answers:
        for metric in found.keys() & reference.keys():
            tolerance = running[name].peer.agrees_to
            if not isclose(found[metric], reference[metric], rel_tol=tolerance):
                message = f"{metric}: {name} {found[metric]}, offdiag {reference[metric]}"
                raise RuntimeError(message)


def timed(
    variants: Sequence[tuple[str, str]], running: Mapping[str, Running], *, turns: int
) -> dict[str, Timing]:
    order = random.Random(7)
    seconds: dict[tuple[str, str], list[float]] = {variant: [] for variant in variants}
    for _ in range(turns):
        for name, case in order.sample(variants, len(variants)):
            seconds[name, case].append(running[name].turn(case)[0])
    return {
        f"{name}: {case}": Timing(f"{name}: {case}", tuple(found))
        for (name, case), found in seconds.items()
    }


def state_goals(report: Report) -> None:
    for case, ours, theirs, at_least in WANTED:
        timings = report.cases[case]
        measured = timings[theirs].median_s / timings[ours].median_s
        report.goal(f"{theirs} / {ours}", measured=measured, wanted=at_least)


def compare_memory(
    report: Report, before: Mapping[str, float], after: Mapping[str, float]
) -> None:
    """The peak memory of processes, and what a million predictions take beyond 100,000.

    The former is mostly libraries; the latter decides how large a run may be.
    """
    for name in MEASURED_IN_MEMORY:
        report.fact(f"{name}: most memory, up to a million, MiB", round(after[name]))
        report.fact(
            f"{name}: of these for 900,000 of the predictions", round(after[name] - before[name])
        )
    ours, theirs = after["offdiag worker"], after["MLflow"]
    report.fact("most memory, offdiag worker / MLflow", round(ours / theirs, 3))
    report.goal(
        "memory for 900,000 more predictions, offdiag worker / MLflow",
        measured=(ours - before["offdiag worker"]) / (theirs - before["MLflow"]),
        wanted=SHARE_OF_MEMORY,
        at_least=False,
    )


if __name__ == "__main__":
    main()
