"""Which runs may be the cheapest, and which cost significantly more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from offdiag.comparison.standings import SIMULTANEOUS
from offdiag.domain.values import MetricValue
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.dual import Floats
from offdiag.metrics.paired.best_runs import cost_contest
from offdiag.metrics.paired.confidence_set import BestSet, Compared, confidence_sets
from offdiag.metrics.paired.runs import Codes, PairedRuns
from offdiag.services.evaluation.compute import INTERVAL_SEED
from offdiag.services.what_if.reading import SideBySide, WhatIfFrame

Verdict = Literal["cheapest", "dearer", "open", "not paired", "not tested"]


@dataclass(frozen=True, slots=True)
class CostPlace:
    """How a run stands against the cheapest one: "open" where the difference may be chance.

    `behind` is its mean cost minus that of the run at `compared_with`, with the simultaneous
    interval that decides: the cheapest, or for a run that only another one shows to cost more,
    that one. The interval is empty where nothing was tested.
    """

    verdict: Verdict
    behind: MetricValue
    compared_with: int | None = None


def cost_places(
    frame: WhatIfFrame,
    means: Sequence[float | None],
    costs: CostMatrix,
    prevalence: Floats | None,
) -> tuple[CostPlace, ...]:
    """Places of runs with these mean costs, all paired ones compared together at 95 %."""
    known = [mean for mean in means if mean is not None]
    least = min(known) if known else None
    paired = _paired_with(frame, means, least)
    found: BestSet | None = None
    if paired is not None and len(paired.positions) > 1:
        contest = cost_contest(paired.runs, costs, prevalence=prevalence)
        ((found,),) = confidence_sets([contest], seed=INTERVAL_SEED)
    return tuple(
        _place(mean, least, _known_of(paired, found, at)) for at, mean in enumerate(means)
    )


@dataclass(frozen=True)
class _Paired:
    """Runs on the same samples as the cheapest one, and where they are among all."""

    runs: PairedRuns
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Tested:
    """What the set says of one run, with the position of its rival among all runs."""

    compared: Compared
    rival: int
    is_tested: bool
    is_in: bool


def _paired_with(
    frame: WhatIfFrame, means: Sequence[float | None], least: float | None
) -> _Paired | None:
    pairs, size = frame.pairs, frame.runs[0].matrix.n_classes
    if pairs is None or least is None:
        return None
    codes = _predictions(frame, pairs)
    answered = {
        at: (pairs.actual < size) & (predicted < size)
        for at, predicted in codes.items()
        if means[at] is not None
    }
    cheapest = next((at for at in answered if means[at] == least), None)
    if cheapest is None:
        return None
    usable = answered[cheapest]
    # The comparison is about cases all runs answered; that must be all cases of each.
    positions = tuple(
        at
        for at, mask in answered.items()
        if frame.runs[at].matrix.total == int(usable.sum()) and np.array_equal(mask, usable)
    )
    return _Paired(
        PairedRuns(
            pairs.actual[usable],
            tuple(codes[at][usable] for at in positions),
            frame.runs[0].matrix.labels,
        ),
        positions,
    )


def _predictions(frame: WhatIfFrame, pairs: SideBySide) -> dict[int, Codes]:
    return {
        at: pairs.predicted[run.id]
        for at, run in enumerate(frame.runs)
        if run.id in pairs.predicted
    }


def _known_of(paired: _Paired | None, found: BestSet | None, at: int) -> _Tested | None:
    if paired is None or found is None or at not in paired.positions:
        return None
    place = paired.positions.index(at)
    compared = found.compared[place]
    if compared is None:
        return None
    return _Tested(
        compared,
        paired.positions[compared.rival],
        bool(found.is_tested[place]),
        bool(found.is_in[place]),
    )


def _place(
    mean: float | None,
    least: float | None,
    tested: _Tested | None,
) -> CostPlace:
    if mean is None or least is None:
        return CostPlace("not paired", MetricValue(None, "component_undefined"))
    if mean == least:
        return CostPlace("cheapest", MetricValue(0.0))
    if tested is None:
        return CostPlace("not paired", MetricValue(mean - least))
    # The set has the higher the better, so a cost is the other way round.
    more = -tested.compared.difference
    if not tested.is_tested:
        return CostPlace("not tested", MetricValue(more), tested.rival)
    behind = MetricValue(more)
    reach = tested.compared.reach
    if reach is not None:
        behind = MetricValue(more, None, None, more - reach, more + reach, SIMULTANEOUS)
    return CostPlace("open" if tested.is_in else "dearer", behind, tested.rival)
