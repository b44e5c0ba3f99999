"""What runs cost under changed costs: totals, intervals, places, and where the choice flips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from offdiag.domain.values import MetricValue
from offdiag.metrics.costs.break_even import CostRay, Stretch, choices, rays_of
from offdiag.metrics.costs.edits import group_names
from offdiag.metrics.costs.matrix import CostWarning, check_costs
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.costs.what_if import merge_classes, ranks
from offdiag.metrics.intervals.costs import mean_cost_interval
from offdiag.services.evaluation.compute import INTERVAL_SEED
from offdiag.services.what_if.reading import MOST_RUNS, WhatIfFrame, read_frame
from offdiag.services.what_if.scenario import Question, Scenario, understand
from offdiag.services.what_if.verdicts import CostPlace, cost_places
from offdiag.store.database import Database
from offdiag.store.priced_runs import PricedRun


@dataclass(frozen=True)
class PricedAnswer:
    """What one run costs.

    `mean` is the cost per case with its interval; `total` its sum over the cases. `place` says
    how it stands against the cheapest run. Ranks count from 1, None where a value is undefined.
    """

    run: PricedRun
    total: MetricValue
    mean: MetricValue
    ratio: MetricValue
    place: CostPlace
    accuracy: float
    rank: int | None
    rank_by_accuracy: int | None


@dataclass(frozen=True, slots=True)
class ConstantAnswer:
    """The cheapest class to answer every time, and what that costs per case."""

    code: int
    mean: float


@dataclass(frozen=True)
class Choice:
    """What becomes of runs as the price of the scenario's lever moves.

    `runs` are the places of the runs that have a cost, `rays` their mean costs, and a stretch
    names the cheapest ones by their place among the rays.
    """

    runs: tuple[int, ...]
    rays: tuple[CostRay, ...]
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True)
class WhatIf:
    """The answer to a question, runs in the order in which they were asked for.

    `cheapest` is the place of the cheapest run, counted from 0. `choice` is None where no price
    can be moved.
    """

    frame: WhatIfFrame
    scenario: Scenario
    answers: tuple[PricedAnswer, ...]
    cheapest: int | None
    constant: ConstantAnswer | None
    warnings: tuple[CostWarning, ...]
    choice: Choice | None


def ask(
    database: Database, run_ids: Sequence[str], question: Question, *, most: int = MOST_RUNS
) -> WhatIf:
    """Answer a question about runs, at most `most`. Raises as `read_frame`."""
    return answer(read_frame(database, run_ids, question.costs, most=most), question)


def answer(frame: WhatIfFrame, question: Question) -> WhatIf:
    """Answer a question from what was read."""
    scenario = understand(question, frame.base, [run.matrix for run in frame.runs])
    found = [_priced(run, scenario) for run in frame.runs]
    means = [values["mean_cost"].value for values in found]
    known = [(mean, place) for place, mean in enumerate(means) if mean is not None]
    cheapest = min(known)[1] if known else None
    places = cost_places(frame, means, scenario.effective, scenario.prevalence)
    accuracies = [_accuracy(run, scenario) for run in frame.runs]
    by_cost, by_accuracy = ranks(means), ranks(accuracies, descending=True)
    return WhatIf(
        frame=frame,
        scenario=scenario,
        answers=tuple(
            PricedAnswer(
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
        choice=_choice(frame, scenario, tuple(place for _, place in known)),
    )


def _priced(run: PricedRun, scenario: Scenario) -> dict[str, MetricValue]:
    costs = scenario.effective
    found = evaluate_costs(run.matrix.counts, costs.weights, prevalence=scenario.prevalence)
    values = {key: quantity.at() for key, quantity in found.items()}
    interval = mean_cost_interval(
        run.matrix, costs, prevalence=scenario.prevalence, seed=INTERVAL_SEED
    )
    return values | {"mean_cost": interval.around(values["mean_cost"])}


def _accuracy(run: PricedRun, scenario: Scenario) -> float:
    """Right answers among the cases, those inside a merged group included."""
    groups = group_names(scenario.groups, run.matrix.labels)
    matrix = merge_classes(run.matrix, groups) if groups else run.matrix
    return int(matrix.counts.trace()) / matrix.total


def _constant(run: PricedRun, values: Mapping[str, MetricValue]) -> ConstantAnswer | None:
    code, total = values["best_trivial_class"].value, values["best_trivial_cost"].value
    if code is None or total is None:
        return None
    return ConstantAnswer(int(code), total / run.matrix.total)


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
