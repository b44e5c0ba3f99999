"""Runs that do better on a class than a flagged one does: what to use instead."""

from __future__ import annotations

from dataclasses import dataclass, replace

from offdiag.metrics.paired.joint import JointCounts
from offdiag.metrics.paired.mcnemar import mcnemar
from offdiag.metrics.paired.multiplicity import holm
from offdiag.services.pairing import pair_runs
from offdiag.store import evaluations, runs
from offdiag.store.queries.better_runs import BetterRun, better_runs
from offdiag.store.session import Session

MOST_BETTER_RUNS = 5


@dataclass(frozen=True, slots=True)
class BetterOnClass:
    """A run that finds more cases of a class, and what it is better by.

    `accuracy_gain` is its accuracy minus that of the flagged run. `won` cases of the class are
    found by it alone, `lost` by the flagged run alone; `p` is McNemar's exact p for them, after
    Holm's correction for all runs that are named beside it. The last three are None where the
    runs could not be compared case by case.
    """

    run: BetterRun
    accuracy_gain: float | None
    won: int | None = None
    lost: int | None = None
    p: float | None = None


def better_on_class(session: Session, run_id: str, label: str) -> tuple[BetterOnClass, ...]:
    """At most five runs on the same ground truth, those that find most of the class first."""
    evaluation = evaluations.current_evaluation(session, run_id)
    if evaluation is None or label not in evaluation.matrix.labels.index:
        return ()
    code = evaluation.matrix.labels.index[label]
    run = runs.get_run(session, run_id)
    accuracy = evaluation.aggregate["overall_accuracy"].value
    found = []
    for other in better_runs(session, run_id, class_index=code, limit=MOST_BETTER_RUNS):
        better = BetterOnClass(other, _gain(accuracy, other.accuracy))
        joint = pair_runs(
            session,
            run,
            runs.get_run(session, other.run_id),
            truth_id=evaluation.truth_version_id,
        )
        if isinstance(joint, JointCounts):
            won, lost = int(joint.hits.only_second[code]), int(joint.hits.only_first[code])
            better = replace(better, won=won, lost=lost, p=mcnemar(won, lost).exact_p)
        found.append(better)
    return _adjusted(found)


def _gain(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _adjusted(found: list[BetterOnClass]) -> tuple[BetterOnClass, ...]:
    """The p values as several comparisons at once deserve."""
    tested = [better.p for better in found if better.p is not None]
    adjusted = iter(holm(tested).tolist() if tested else [])
    return tuple(
        better if better.p is None else replace(better, p=next(adjusted)) for better in found
    )
