"""Which run is best, and whose place changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from offdiag.metrics.catalogue import Direction
from offdiag.reports.scope import spec_of
from offdiag.reports.snapshot import RunFigures


@dataclass(frozen=True, slots=True)
class RankChange:
    """A run that holds another place than before among the runs both reports know."""

    run_id: str
    run_name: str
    metric: str
    before: int
    after: int


def ranked(runs: Sequence[RunFigures], metric: str) -> tuple[RunFigures, ...]:
    """Runs from best to worst; where the metric is undefined they come last, newest first."""
    newest_first = sorted(runs, key=lambda run: (run.logged_at, run.id), reverse=True)
    return tuple(sorted(newest_first, key=lambda run: _badness(run, metric)))


def ranks(runs: Sequence[RunFigures], metric: str) -> dict[str, int]:
    """Place of each run by id, 1 being best; equal values share a place, undefined have none."""
    values = {run.id: _badness(run, metric) for run in runs if _value(run, metric) is not None}
    return {
        run_id: 1 + sum(other < badness for other in values.values())
        for run_id, badness in values.items()
    }


def rank_changes(
    before: Sequence[RunFigures], after: Sequence[RunFigures], metrics: Sequence[str]
) -> tuple[RankChange, ...]:
    """Places that changed among the runs of both reports, by metric and then by new place.

    A new run moves all runs below it down by one. That is no news about them, so places are
    counted among the runs that were there before and still are.
    """
    known = {run.id for run in before} & {run.id for run in after}
    names = {run.id: run.name for run in after}
    then = [run for run in before if run.id in known]
    now = [run for run in after if run.id in known]
    found = []
    for metric in metrics:
        places = ranks(then, metric), ranks(now, metric)
        moved = _moved(*places)
        found += [
            RankChange(run_id, names[run_id], metric, places[0][run_id], places[1][run_id])
            for run_id in sorted(moved, key=lambda run_id: (places[1][run_id], run_id))
        ]
    return tuple(found)


def _moved(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    return [run_id for run_id in after if run_id in before and before[run_id] != after[run_id]]


def _value(run: RunFigures, metric: str) -> float | None:
    found = run.metrics.get(metric)
    return None if found is None else found.value


def _badness(run: RunFigures, metric: str) -> float:
    """Smaller is better, whatever the direction of the metric."""
    value = _value(run, metric)
    if value is None:
        return float("inf")
    return value if spec_of(metric, of_class=False).direction is Direction.LOWER else -value
