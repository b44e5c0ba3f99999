"""Which of several runs is best by a metric, and which cannot be told from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from offdiag.comparison.gaps import Gap
from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import Direction
from offdiag.metrics.paired.multiplicity import holm
from offdiag.reports.scope import spec_of


class Standing(StrEnum):
    """Where a run stands by one metric."""

    BEST = "best"
    NOT_SEPARABLE = "not separable from the best"
    BEHIND = "behind the best"
    NOT_TESTED = "not tested against the best"
    """There is no interval for the difference, so nothing can be said."""
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class Place:
    """A run by one metric.

    `behind` is the run minus the best one, None for the best itself and where undefined. `p`
    belongs to that difference, `p_adjusted` is Holm's over all runs that were tested.
    """

    value: MetricValue
    standing: Standing
    behind: MetricValue | None = None
    p: float | None = None
    p_adjusted: float | None = None


def places(
    key: str,
    values: Sequence[MetricValue],
    gap_between: Callable[[int, int], Gap],
    *,
    confidence: float,
) -> tuple[Place, ...]:
    """Places of runs by a metric, in their order; of equally good ones the first is the best.

    `gap_between(best, other)` is the difference other minus best. A run is behind where its
    adjusted p value is below 1 - confidence; every other one may be as good as the best.
    """
    best = _best(key, values)
    if best is None:
        return tuple(Place(value, Standing.UNDEFINED) for value in values)
    others = [run for run, value in enumerate(values) if value.is_defined and run != best]
    gaps = {run: gap_between(best, run) for run in others}
    tested = [(run, gap.p) for run, gap in gaps.items() if gap.p is not None]
    adjusted = dict(
        zip((run for run, _ in tested), holm([p for _, p in tested]).tolist(), strict=True)
    )
    found = []
    for run, value in enumerate(values):
        if run == best:
            found.append(Place(value, Standing.BEST))
        elif run not in gaps:
            found.append(Place(value, Standing.UNDEFINED))
        else:
            p = adjusted.get(run)
            found.append(
                Place(value, _standing(p, 1 - confidence), gaps[run].difference, gaps[run].p, p)
            )
    return tuple(found)


def _best(key: str, values: Sequence[MetricValue]) -> int | None:
    lower_is_better = spec_of(key, of_class=False).direction is Direction.LOWER
    defined = [
        (value.value if lower_is_better else -value.value, run)
        for run, value in enumerate(values)
        if value.value is not None
    ]
    return min(defined)[1] if defined else None


def _standing(p_adjusted: float | None, level: float) -> Standing:
    if p_adjusted is None:
        return Standing.NOT_TESTED
    return Standing.BEHIND if p_adjusted < level else Standing.NOT_SEPARABLE
