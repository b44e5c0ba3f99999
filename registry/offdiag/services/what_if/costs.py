"""What runs would cost under changed costs: totals, intervals, ranks, and the best choice.

Tests say which runs may be the cheapest, and which cost significantly more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from offdiag.comparison.rank_status import SIMULTANEOUS
from offdiag.domain.values import MetricValue
from offdiag.metrics.costs.break_even import CostRay, Stretch, choices, rays_of
from offdiag.metrics.costs.edits import group_names
from offdiag.metrics.costs.matrix import CostMatrix, CostWarning, check_costs
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.costs.what_if import merge_classes, ranks
from offdiag.metrics.gradients import Floats
from offdiag.metrics.intervals.costs import cost_intervals
from offdiag.metrics.many_runs.best_runs import cost_contest
from offdiag.metrics.many_runs.confidence_set import BestSet, Compared, confidence_sets
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from offdiag.services.evaluation.compute import INTERVAL_SEED
from offdiag.services.what_if.leads import Leads, leads
from offdiag.services.what_if.runs import MOST_RUNS, Question, WhatIfFrame, read_frame
from offdiag.services.what_if.scenario import Scenario, understand
from offdiag.store.database import Database
from offdiag.store.run_costs import RunWithCosts

_ROUNDING = 1e-12
"""As a share of the largest cost."""
Verdict = Literal["cheapest", "dearer", "open", "not paired", "not tested"]


@dataclass(frozen=True, slots=True)
class CostPlace:
    """How a run compares with the cheapest one: "open" if the difference may be chance.

    `behind` is its mean cost minus that of the run at `compared_with`, with the simultaneous
    interval that decides. That run is the cheapest one, or if only another run shows that this one
    costs more, that run. The interval is missing if nothing was tested.
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
    """The places of runs with these mean costs, all paired runs compared together at 95 %."""
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
    """The runs on the same samples as the cheapest one, and their positions among all runs."""

    runs: PairedRuns
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Tested:
    """What the confidence set says of one run, with the position of its rival among all runs."""

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
    codes = {
        at: pairs.predicted[run.id]
        for at, run in enumerate(frame.runs)
        if run.id in pairs.predicted
    }
    answered = {
        at: (pairs.actual < size) & (predicted < size)
        for at, predicted in codes.items()
        if means[at] is not None
    }
    cheapest = next((at for at in answered if means[at] == least), None)
    if cheapest is None:
        return None
    usable = answered[cheapest]
    # The comparison needs samples that all runs answered, which must be all samples of each run.
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
    # In the set higher is better, so the sign of a cost is reversed.
    more = -tested.compared.difference
    if not tested.is_tested:
        return CostPlace("not tested", MetricValue(more), tested.rival)
    behind = MetricValue(more)
    reach = tested.compared.reach
    if reach is not None:
        behind = MetricValue(more, None, None, more - reach, more + reach, SIMULTANEOUS)
    return CostPlace("open" if tested.is_in else "dearer", behind, tested.rival)


@dataclass(frozen=True)
class PredictionCost:
    """The cost of one run.

    `mean` is the cost per sample with its interval; `total` its sum over the samples. `place` says
    how it compares with the cheapest run. Ranks count from 1, None if a value is undefined.
    """

    run: RunWithCosts
    total: MetricValue
    mean: MetricValue
    ratio: MetricValue
    place: CostPlace
    accuracy: float
    rank: int | None
    rank_by_accuracy: int | None


@dataclass(frozen=True, slots=True)
class ConstantPrediction:
    """The cheapest class to predict every time, and its cost per sample."""

    code: int
    mean: float


@dataclass(frozen=True)
class Choice:
    """Which runs are the cheapest as the cost of the scenario's lever changes.

    `runs` are the positions of the runs that have a cost, `rays` their mean costs, and a stretch
    names the cheapest runs by their position among the rays.
    """

    runs: tuple[int, ...]
    rays: tuple[CostRay, ...]
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True)
class WhatIf:
    """The answer to a question, with runs in the requested order.

    `cheapest` is the position of the cheapest run, counted from 0. `choice` is None if no cost can
    be moved, and `leads` also if not all runs can be paired.
    """

    frame: WhatIfFrame
    scenario: Scenario
    answers: tuple[PredictionCost, ...]
    cheapest: int | None
    constant: ConstantPrediction | None
    warnings: tuple[CostWarning, ...]
    choice: Choice | None
    leads: Leads | None


def ask(
    database: Database, run_ids: Sequence[str], question: Question, *, most: int = MOST_RUNS
) -> WhatIf:
    """Answer a question about runs, at most `most` of them. Raises like `read_frame`."""
    return answer(read_frame(database, run_ids, question, most=most), question)


def answer(frame: WhatIfFrame, question: Question) -> WhatIf:
    """Answer a question from the data in a frame."""
    scenario = understand(question, frame.base, [run.matrix for run in frame.runs])
    found = [_values_of(run, scenario) for run in frame.runs]
    means = _levels([values["mean_cost"].value for values in found], scenario.effective)
    known = [(mean, place) for place, mean in enumerate(means) if mean is not None]
    cheapest = min(known)[1] if known else None
    places = cost_places(frame, means, scenario.effective, scenario.prevalence)
    accuracies = [_accuracy(run, scenario) for run in frame.runs]
    choice = _choice(frame, scenario, tuple(place for _, place in known))
    by_cost, by_accuracy = ranks(means), ranks(accuracies, descending=True)
    return WhatIf(
        frame=frame,
        scenario=scenario,
        answers=tuple(
            PredictionCost(
                run=run,
                total=values["total_cost"],
                mean=values["mean_cost"],
                ratio=values["cost_ratio_to_best_trivial"],
                place=places[at],
                accuracy=accuracies[at],
                rank=by_cost[at],
                rank_by_accuracy=by_accuracy[at],
            )
            for at, (run, values) in enumerate(zip(frame.runs, found, strict=True))
        ),
        cheapest=cheapest,
        constant=_constant(frame.runs[0], found[0]),
        warnings=check_costs(scenario.costs),
        choice=choice,
        leads=_leads(frame, means, scenario, choice),
    )


def rounding(costs: CostMatrix) -> float:
    """Mean costs that differ by no more are equal: sums of 0.1 and of 0.3 are rounded."""
    return _ROUNDING * float(np.abs(costs.weights).max())


def _levels(means: Sequence[float | None], costs: CostMatrix) -> list[float | None]:
    """The means, with those that are equal up to rounding replaced by the lowest of them."""
    known = [mean for mean in means if mean is not None]
    reach = rounding(costs)
    return [
        None if mean is None else min(each for each in known if mean - each <= reach)
        for mean in means
    ]


def _leads(
    frame: WhatIfFrame,
    means: Sequence[float | None],
    scenario: Scenario,
    choice: Choice | None,
) -> Leads | None:
    known = [mean for mean in means if mean is not None]
    paired = _paired_with(frame, means, min(known, default=None))
    if choice is None or scenario.lever is None or paired is None:
        return None
    if paired.positions != choice.runs or len(choice.runs) < 2 or len(paired.runs.actual) < 2:
        return None
    return leads(
        paired.runs.actual,
        paired.runs.predictions,
        scenario.effective,
        scenario.lever,
        choice.stretches,
        prevalence=scenario.prevalence,
    )


def _values_of(run: RunWithCosts, scenario: Scenario) -> dict[str, MetricValue]:
    costs = scenario.effective
    found = evaluate_costs(run.matrix.counts, costs.weights, prevalence=scenario.prevalence)
    values = {key: quantity.at() for key, quantity in found.items()}
    interval = cost_intervals(
        run.matrix, costs, prevalence=scenario.prevalence, seed=INTERVAL_SEED, keys=("mean_cost",)
    )["mean_cost"]
    return values | {"mean_cost": interval.around(values["mean_cost"])}


def _accuracy(run: RunWithCosts, scenario: Scenario) -> float:
    """The share of correct predictions, including those inside a merged group."""
    groups = group_names(scenario.groups, run.matrix.labels)
    matrix = merge_classes(run.matrix, groups) if groups else run.matrix
    return int(matrix.counts.trace()) / matrix.total


def _constant(run: RunWithCosts, values: Mapping[str, MetricValue]) -> ConstantPrediction | None:
    code, total = values["best_trivial_class"].value, values["best_trivial_cost"].value
    if code is None or total is None:
        return None
    return ConstantPrediction(int(code), total / run.matrix.total)


def _choice(frame: WhatIfFrame, scenario: Scenario, places: tuple[int, ...]) -> Choice | None:
    if scenario.lever is None or not places:
        return None
    rays = rays_of(
        [frame.runs[place].matrix for place in places],
        scenario.effective,
        scenario.lever,
        prevalence=scenario.prevalence,
    )
    return Choice(places, rays, choices(rays))
