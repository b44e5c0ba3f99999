"""Which of several runs is highest by a metric, and which are worse than the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

from offdiag.domain.values import MetricValue
from offdiag.metrics.paired.confidence_set import BestSet, Compared

SIMULTANEOUS = "simultaneous, slopes at the pooled matrix"
SIMULTANEOUS_UNPAIRED = "simultaneous, square and add, unpaired"


class Standing(StrEnum):
    """Where a run stands by one metric."""

    BEST = "best"
    """It has the highest value; others may be as good."""
    NOT_SEPARABLE = "not separable from the best"
    """There is no significant difference from the best."""
    BEHIND = "behind the best"
    """It is significantly worse than the best."""
    NOT_TESTED = "not tested against the best"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class Place:
    """A run by one metric.

    `behind` is the run minus the one at position `compared_with`, with the simultaneous interval
    that decides the standing: the highest run, or for a run that only another one shows to be
    worse, that one. All None for the highest itself and where undefined. `p` belongs to that
    difference alone; `p_adjusted` counts all runs and metrics that were compared together.
    """

    value: MetricValue
    standing: Standing
    behind: MetricValue | None = None
    compared_with: int | None = None
    p: float | None = None
    p_adjusted: float | None = None


def places(
    found: BestSet,
    values: Sequence[MetricValue],
    *,
    lower_is_better: bool = False,
    width: float = inf,
    unpaired: Sequence[int] = (),
) -> tuple[Place, ...]:
    """Places of runs by a metric, in their order; equally high ones are all the best.

    `width` is the largest difference that the metric can have. Runs in `unpaired` are compared
    as if of other samples.
    """
    sign = -1.0 if lower_is_better else 1.0
    placed = []
    for run, (value, compared) in enumerate(zip(values, found.compared, strict=True)):
        if run in found.highest:
            placed.append(Place(value, Standing.BEST))
        elif compared is None:
            placed.append(Place(value, Standing.UNDEFINED))
        else:
            is_paired = not {run, compared.rival} & set(unpaired)
            method = SIMULTANEOUS if is_paired else SIMULTANEOUS_UNPAIRED
            placed.append(
                Place(
                    value,
                    _standing(found, run),
                    _difference(compared, sign, width, method),
                    compared.rival,
                    compared.p,
                    compared.p_adjusted,
                )
            )
    return tuple(placed)


def _standing(found: BestSet, run: int) -> Standing:
    if not found.is_tested[run]:
        return Standing.NOT_TESTED
    return Standing.NOT_SEPARABLE if found.is_in[run] else Standing.BEHIND


def _difference(compared: Compared, sign: float, width: float, method: str) -> MetricValue:
    gap = MetricValue(sign * compared.difference)
    if compared.reach is None:
        return gap
    low, high = (sign * compared.difference + end for end in (-compared.reach, compared.reach))
    return replace(gap, ci_low=max(low, -width), ci_high=min(high, width), ci_method=method)
