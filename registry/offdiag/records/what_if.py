"""What-if scenarios, and what runs cost in them."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from pydantic import Field

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.records.base import RequestBody, ResponseBody, Value
from offdiag.records.cost import Weights

if TYPE_CHECKING:
    from offdiag.domain.texts import Cell
    from offdiag.services.what_if.costs import Choice, PredictionCost, WhatIf
    from offdiag.services.what_if.scenario import Scenario
    from offdiag.store.database import Database

MOST_RUNS = 8


class PricedBy(RequestBody):
    """A cost matrix, with optional changes."""

    base: str | None = Field(
        default=None,
        description=("`visits@2`, `@0-1`, or `@prevalence`; by default the costs of the dataset."),
    )
    edits: str = Field(
        default="",
        max_length=8_000,
        description="Changes such as `mel>nv:20,bcc>*:x2`: actual class, predicted class, cost.",
    )
    vary: str = Field(
        default="",
        max_length=2_000,
        description="The cost to vary, such as `mel>nv` or `mel>*`; by default the most expensive "
        "one.",
    )


class WhatIfRequest(RequestBody):
    """A scenario. Its parts apply in the order of these fields."""

    runs: list[str] = Field(min_length=1, max_length=MOST_RUNS)
    positive: str | None = Field(
        default=None, description="The class to which the threshold applies."
    )
    threshold: float | None = Field(
        default=None, description="Predict the positive class if its score is at least this."
    )
    merge: dict[str, list[str]] = Field(
        default={}, description="By the name of a new class: the classes to merge into it."
    )
    swap_positive: bool = Field(default=False, description="Swap two classes.")
    prevalence: dict[str, float] | None = Field(
        default=None, description="The share of each remaining class; they add up to 1."
    )
    costs: PricedBy | None = Field(
        default=None, description="Also compute what the runs cost; not together with a threshold."
    )


class CostsRequest(RequestBody):
    """Which runs to compare by cost, and with which costs."""

    runs: str = Field(
        default="",
        max_length=5_000,
        description="Ids, separated by commas; by default the newest runs of `dataset`.",
    )
    dataset: str | None = None
    project: str = DEFAULT_PROJECT
    costs: str | None = Field(
        default=None, description="`visits@2` or `@0-1`; by default the costs of the dataset."
    )
    edits: str = Field(
        default="", max_length=8_000, description="Changes such as `mel>nv:20,bcc>*:x2`."
    )
    shares: str = Field(
        default="",
        max_length=8_000,
        description="Class prevalence at deployment, such as `mel:0.01,bcc:0.02`; the rest is "
        "divided as in the test set.",
    )
    lever: str = Field(
        default="", max_length=2_000, description="The cost to vary, such as `mel>nv` or `mel>*`."
    )
    slice: str = Field(
        default="",
        max_length=2_000,
        description="Only the examples in this slice, such as `site=z`.",
    )


class Recounted(ResponseBody):
    """The results of a run after the change."""

    run: str
    labels: list[str]
    orientation: SourceOrientation = Field(description="Always actual_rows.")
    matrix: list[list[float]] = Field(
        description="Counts, or expected counts if a prevalence is given."
    )
    aggregate: dict[str, Value]
    per_class: dict[str, list[Value]] = Field(description="By key, in label order.")
    threshold: float | None = Field(description="The stored threshold that was used.")


class CostBase(ResponseBody):
    """The costs before the changes; without a name if they are not stored."""

    reference: str
    name: str | None
    version: int | None


class BestConstant(ResponseBody):
    """The class that costs least if it is always predicted."""

    label: str
    mean_cost: float


class CostOfRun(ResponseBody):
    """What one run costs, with its rank and its letter."""

    letter: str
    run: str
    name: str
    model: str | None
    rank: int | None
    rank_by_accuracy: int | None
    accuracy: float | None
    total_cost: Value
    mean_cost: Value
    more_than_cheapest: Value
    verdict: str
    compared_with: str | None
    ratio_to_best_constant: Value


class CheapestAsOneCostMoves(ResponseBody):
    """The runs that are cheapest while one cost lies between `from` and `to`; `to` is null if
    there is no upper end."""

    actual: str
    predicted: str | None = Field(description="Null: all errors on `actual`.")
    vary: str = Field(description="The same in short: `mel>nv`.")
    unit: str
    now: float
    stretches: list[dict[str, Any]]


class CostsOfRuns(ResponseBody):
    """What runs cost with the changed costs."""

    project: str
    dataset: str
    slice: str | None = Field(description="The slice of the examples; null: all examples.")
    labels: list[str]
    base: CostBase
    edits: str
    currency: str | None
    weights: Weights
    prevalence: dict[str, float] | None
    merged: list[list[str]]
    warnings: list[dict[str, Any]]
    best_constant: BestConstant | None
    left_out: list[dict[str, str]]
    n_weighted: int = Field(
        default=0,
        description="Evaluated runs of the dataset with sample weights, which are not compared.",
    )
    is_cut: bool = Field(
        default=False,
        description="Whether the dataset has older evaluated runs, which are not compared.",
    )
    ignored: list[str] = Field(description="What was not understood.")
    runs: list[CostOfRun]
    choice: CheapestAsOneCostMoves | None


class CostsOfRunsAt(CostsOfRuns):
    """The same with the URL of the page."""

    url: str


class WhatIfResponse(ResponseBody):
    """The results of each run in the scenario, and their costs if requested."""

    runs: list[Recounted]
    costs: CostsOfRuns | None


def costs_of_runs(found: WhatIf) -> CostsOfRuns:
    """What runs cost, in the order of the request."""
    scenario, constant = found.scenario, found.constant
    names, record = scenario.costs.labels.names, scenario.base.record
    first = found.frame.runs[0]
    return CostsOfRuns(
        project=first.project,
        dataset=first.dataset,
        slice=found.frame.part or None,
        labels=list(names),
        base=CostBase(
            reference=scenario.base.reference,
            name=None if record is None else record.name,
            version=None if record is None else record.version,
        ),
        edits=scenario.edits.text(scenario.costs.labels),
        currency=scenario.costs.currency,
        weights=scenario.costs.by_class,
        prevalence=prevalence_document(scenario),
        merged=[[names[code] for code in group] for group in scenario.groups],
        warnings=[
            {"oddity": each.oddity.value, "classes": [names[code] for code in each.classes]}
            for each in found.warnings
        ],
        best_constant=None
        if constant is None
        else BestConstant(label=names[constant.code], mean_cost=constant.mean),
        left_out=[{"run": run_id, "reason": why} for run_id, why in found.frame.left_out],
        n_weighted=found.frame.n_weighted,
        ignored=list(scenario.problems),
        runs=[_cost_of_run(place, each) for place, each in enumerate(found.answers)],
        choice=None if found.choice is None else _choice(found, found.choice),
    )


def asked_costs(database: Database, asked: CostsRequest) -> CostsOfRuns:
    """Compare runs by cost: the ones named, or the newest of the dataset up to `MOST_COMPARED`."""
    from offdiag.domain.runs import MOST_COMPARED
    from offdiag.services.what_if.costs import ask
    from offdiag.services.what_if.runs import Question, runs_asked_for

    run_ids = runs_asked_for(
        database, asked.runs, project=asked.project, dataset=asked.dataset, most=MOST_COMPARED + 1
    )
    is_cut = not asked.runs and len(run_ids) > MOST_COMPARED
    if is_cut:
        run_ids = run_ids[:MOST_COMPARED]
    question = Question(asked.costs, asked.edits, asked.lever, asked.shares, part=asked.slice)
    found = costs_of_runs(ask(database, run_ids, question, most=MOST_COMPARED))
    return found.model_copy(update={"is_cut": is_cut})


def prevalence_document(scenario: Scenario) -> dict[str, float] | None:
    """The class shares of the scenario by label, None if it has those of the test set."""
    if scenario.prevalence is None:
        return None
    return dict(zip(scenario.costs.labels.names, scenario.prevalence.tolist(), strict=True))


RANKING_COLUMNS = (
    *("letter", "run", "name", "model", "rank", "rank_by_accuracy", "accuracy"),
    *("total_cost", "mean_cost", "mean_cost_ci_low", "mean_cost_ci_high", "reason"),
    *("more_than_cheapest", "more_ci_low", "more_ci_high", "more_ci_method"),
    *("ratio_to_best_constant", "ratio_reason"),
)


def ranking_row(run: CostOfRun) -> tuple[Cell, ...]:
    """A run as a line of CSV, in the order of `RANKING_COLUMNS`."""
    mean, more = run.mean_cost, run.more_than_cheapest
    return (
        *run.row(RANKING_COLUMNS[:7]),
        *(run.total_cost.value, mean.value, mean.ci_low, mean.ci_high, mean.reason),
        *(more.value, more.ci_low, more.ci_high, more.ci_method),
        *(run.ratio_to_best_constant.value, run.ratio_to_best_constant.reason),
    )


def _cost_of_run(place: int, each: PredictionCost) -> CostOfRun:
    from offdiag.comparison.texts import run_label

    run, rival = each.run, each.place.compared_with
    return CostOfRun.made_of(
        each,
        letter=run_label(place),
        run=run.id,
        name=run.name,
        model=run.model,
        total_cost=each.total,
        mean_cost=each.mean,
        more_than_cheapest=each.place.behind,
        verdict=each.place.verdict,
        compared_with=None if rival is None else run_label(rival),
        ratio_to_best_constant=each.ratio,
    )


def _choice(found: WhatIf, choice: Choice) -> CheapestAsOneCostMoves | None:
    from offdiag.metrics.costs.edits import cost_text, written

    lever, names = found.scenario.lever, found.scenario.costs.labels.names
    if lever is None:
        return None
    actual = names[lever.actual]
    predicted = None if lever.predicted is None else names[lever.predicted]
    return CheapestAsOneCostMoves(
        actual=actual,
        predicted=predicted,
        vary=f"{written(actual)}>{'*' if predicted is None else written(predicted)}",
        unit=cost_text(lever.unit),
        now=lever.now,
        stretches=[
            {
                "from": stretch.low if isfinite(stretch.low) else None,
                "to": stretch.high if isfinite(stretch.high) else None,
                "cheapest": [found.answers[choice.runs[at]].run.id for at in stretch.cheapest],
            }
            for stretch in choice.stretches
        ],
    )
