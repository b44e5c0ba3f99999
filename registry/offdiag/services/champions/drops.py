"""Drops: runs that are significantly worse than the best earlier run of their model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from offdiag.metrics.many_runs.confidence_set import PairTests
from offdiag.store.ranked_runs import RankedRun, RankedRuns


@dataclass(frozen=True, slots=True)
class RunDrop:
    """A run, and the best earlier run of its model, than which it is significantly worse."""

    run: RankedRun
    best: RankedRun

    @property
    def difference(self) -> float:
        """The metric of the run minus that of the best earlier run."""
        return (self.run.value.value or 0.0) - (self.best.value.value or 0.0)


def drops_in(runs: Sequence[RankedRun], tests: PairTests) -> Iterator[RunDrop]:
    """Every drop, oldest run first. `tests` compares `runs` in their order.

    A run is left out if it names no model, or if its threshold was chosen on its samples. All
    pairs of runs are tested at one level, because the best earlier run was chosen for being the
    best.
    """
    places = {run.id: place for place, run in enumerate(runs)}
    best: dict[str, RankedRun] = {}
    for run in sorted(runs, key=lambda each: (each.created_at, each.id)):
        if run.model is None or run.is_chosen_here:
            continue
        before = best.setdefault(run.model, run)
        statistic = tests.statistic(places[run.id], places[before.id])
        if statistic.t < -tests.critical:
            yield RunDrop(run, before)
        elif statistic.difference > 0:
            best[run.model] = run


def newest_drops(ranked: RankedRuns, tests: PairTests | None) -> tuple[RunDrop, ...]:
    """The newest run of each model, if it is a drop; `tests` has the ranked runs in order."""
    runs = sorted(ranked.runs, key=lambda run: run.created_at)
    newest = {run.model: run.id for run in runs if not run.is_chosen_here}
    if tests is None:
        return ()
    return tuple(
        drop for drop in drops_in(ranked.runs, tests) if newest[drop.run.model] == drop.run.id
    )
