"""Logging and evaluating a run of very many classes: the memory of a fresh process.

    python benchmarks/many_classes.py [--full]

`--full` also evaluates the run in the same process. The peak is the largest resident memory of the
process, including its interpreter and libraries.
"""

from __future__ import annotations

import json
import resource
import tempfile
from time import perf_counter

import numpy as np
from harness import Report, in_a_process, wants_everything

N_CLASSES = N_SAMPLES = 10_000
CHILD = "from many_classes import measure_here; measure_here({n_classes}, {evaluate})"


def main() -> None:
    everything = wants_everything(__doc__ or "")
    report = Report("many_classes", libraries=("numpy", "sqlalchemy"))
    few = in_a_process(CHILD.format(n_classes=10, evaluate=False))
    many = in_a_process(CHILD.format(n_classes=N_CLASSES, evaluate=everything))
    report.goal(
        "log_run, 10,000 classes and 10,000 examples: peak memory, MiB",
        measured=round(many["logged_mib"], 1),
        wanted=300,
        at_least=False,
    )
    report.fact("log_run, 10 classes and 10,000 examples: peak, MiB", round(few["logged_mib"], 1))
    report.fact("log_run, 10,000 classes: logged in, s", round(many["logged_s"], 2))
    if everything:
        report.fact("evaluation, 10,000 classes: peak, MiB", round(many["evaluated_mib"]))
        report.fact("evaluation, 10,000 classes: evaluated in, s", round(many["evaluated_s"], 1))
    report.save()


def measure_here(n_classes: int, evaluate: bool) -> None:
    """Log a run in this process, and print times and peaks as JSON."""
    import offdiag

    rng = np.random.default_rng(1)
    names = np.array([f"class {code:05d}" for code in range(n_classes)])
    actual = rng.integers(0, n_classes, N_SAMPLES)
    is_wrong = rng.random(N_SAMPLES) < 0.3
    predicted = np.where(is_wrong, rng.integers(0, n_classes, N_SAMPLES), actual)
    with tempfile.TemporaryDirectory() as folder:
        started = perf_counter()
        run = offdiag.log_run(
            y_true=names[actual],
            y_pred=names[predicted],
            labels=names.tolist(),
            name="many classes",
            dataset="made",
            url=f"sqlite:///{folder}/registry.db",
        )
        found = {"logged_s": perf_counter() - started, "logged_mib": _peak_mib()}
        if evaluate:
            started = perf_counter()
            run.evaluation(timeout=900)
            found |= {"evaluated_s": perf_counter() - started, "evaluated_mib": _peak_mib()}
    print(json.dumps(found))


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
