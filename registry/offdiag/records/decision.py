"""A decision rule, and its effect on costs, predictions and the recall of each class."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from offdiag.domain.orientation import SourceOrientation
from offdiag.records.base import RequestBody, ResponseBody, Value
from offdiag.records.cost import Weights, weights_by_class
from offdiag.records.datasets.truth import RunName
from offdiag.records.runs.run import Labels, labels_document
from offdiag.records.what_if import prevalence_document

if TYPE_CHECKING:
    from offdiag.domain.texts import Cell
    from offdiag.metrics.costs.matrix import CostMatrix
    from offdiag.services.decisions.rules import Decisions, Trial
    from offdiag.services.decisions.thresholds import Change, CostPoint, ThresholdCosts
    from offdiag.store.database import Database
    from offdiag.store.runs import RunRecord


_Threshold = Annotated[
    float | Literal["cheapest"] | None,
    Field(
        description="For two classes: predict the positive class if its score is at least this, "
        "or at least the `cheapest` threshold on these examples. Without a threshold, each "
        "example gets the prediction with the lowest expected cost.",
    ),
]
_Positive = Annotated[
    str | None, Field(description="The positive class, if the dataset does not define one.")
]


class RuleRequest(RequestBody):
    """A decision rule by cost, and the name under which its predictions are stored."""

    costs: str | None = Field(
        default=None, description="`visits` or `visits@2`; by default the costs of the dataset."
    )
    threshold: _Threshold = None
    positive: _Positive = None
    shares: str = Field(default="", max_length=8_000, description="As in `GET /costs`.")
    save_as: str | None = None
    author: str | None = None


class RecallChange(ResponseBody):
    """The recall of one class before and after."""

    label: str
    support: int
    before: Value
    after: Value
    difference: Value
    simultaneous_interval: dict[str, float | None]
    is_significant: bool


class PredictionChange(ResponseBody):
    """The effect of changed predictions. Costs are per sample."""

    mean_cost_before: Value
    mean_cost_after: Value
    difference: Value
    matrix_before: list[list[int]]
    matrix_after: list[list[int]]
    recall: list[RecallChange]


class TriedRule(PredictionChange):
    """A rule that was tried on the scores of a run, and the run that was saved, if any."""

    run: str
    name: str
    n_changed: int = Field(description="Number of predictions that the rule changes.")
    currency: str | None
    recipe: dict[str, Any]
    labels: list[str]
    saved: RunName | None


class ThresholdCost(ResponseBody):
    """A threshold, the number of predictions above it, and the cost."""

    threshold: float | None
    flagged: int
    true_positives: int
    false_positives: int
    missed: int
    mean_cost: float | None


class CostsOfThresholds(ResponseBody):
    """Thresholds on the score of a class, strictest first."""

    positive: str
    are_probabilities: bool
    cheapest: dict[str, Any] | None
    crossfitted_mean_cost: float | None
    crossfitted_missed: float | None
    crossfitted_false_positives: float | None
    in_use: dict[str, Any] = Field(
        description="The cost of the predictions, and the threshold that gives the same counts; "
        "null if no single threshold does."
    )
    implied: dict[str, Any]
    flag_nothing_mean_cost: float | None
    flag_everything_mean_cost: float | None
    change: PredictionChange | None = Field(
        description="Change from the current threshold to the cheapest one. The latter was chosen "
        "on these examples, so differences have no interval and are never significant; intervals "
        "of costs are those of a threshold fixed beforehand."
    )
    points: list[ThresholdCost]


class DecisionsAt(ResponseBody):
    """The effect of decision rules by cost on a run, with the URL of the page."""

    url: str
    run: str
    name: str
    dataset: str
    project: str
    labels: list[str]
    costs: str
    edits: str
    currency: str | None
    weights: Weights
    prevalence: dict[str, float] | None
    ignored: list[str]
    missing: str | None
    problem: str | None
    thresholds: CostsOfThresholds | None
    change: PredictionChange | None
    derived: list[RunName]


THRESHOLD_COLUMNS = tuple(ThresholdCost.model_fields)
PREDICTION_COLUMNS = ("actual", "before", "after", "count", "cost_before", "cost_after")


def decisions_at(found: Decisions, *, url: str) -> DecisionsAt:
    """The whole document of the page."""
    scenario, run = found.scenario, found.run
    names = scenario.costs.labels.names
    return DecisionsAt(
        url=url,
        run=run.id,
        name=run.name,
        dataset=run.dataset,
        project=run.project,
        labels=list(names),
        costs=scenario.base.reference,
        edits=scenario.edits.text(scenario.costs.labels),
        currency=scenario.costs.currency,
        weights=scenario.effective.by_class,
        prevalence=prevalence_document(scenario),
        ignored=list(scenario.problems),
        missing=None if found.missing is None else found.missing.value,
        problem=found.problem,
        thresholds=None
        if found.thresholds is None
        else _thresholds(found.thresholds, names[found.thresholds.positive]),
        change=None if found.change is None else _change(found.change),
        derived=list(map(RunName.made_of, found.derived)),
    )


def decisions_table(found: Decisions) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Columns and lines of CSV: every threshold, or every kind of prediction that changes."""
    if found.thresholds is not None:
        points = _points(found.thresholds)
        return THRESHOLD_COLUMNS, [point.row(THRESHOLD_COLUMNS) for point in points]
    if found.change is not None:
        return PREDICTION_COLUMNS, _prediction_rows(found.change, found.scenario.effective)
    return THRESHOLD_COLUMNS, []


def tried_rule(trial: Trial, saved: RunRecord | None) -> TriedRule:
    """What a rule changes, with the run that was saved, if any."""
    joint = trial.change.joint
    return TriedRule(
        run=trial.run.id,
        name=trial.run.name,
        n_changed=int(joint.counts[joint.first != joint.second].sum()),
        currency=trial.cost_basis.costs.currency,
        recipe=dict(trial.recipe),
        labels=list(trial.run.matrix.labels.names),
        saved=None if saved is None else RunName.made_of(saved),
        **dict(_change(trial.change)),
    )


def _change(change: Change) -> PredictionChange:
    return PredictionChange.made_of(
        change,
        mean_cost_before=change.before,
        mean_cost_after=change.after,
        matrix_before=change.joint.first_matrix.counts.tolist(),
        matrix_after=change.joint.second_matrix.counts.tolist(),
        recall=[
            RecallChange.made_of(each, simultaneous_interval=each.simultaneous_record)
            for each in change.classes
        ],
    )


def _thresholds(found: ThresholdCosts, positive: str) -> CostsOfThresholds:
    place, implied, others = found.in_use_place, found.at_implied, found.crossfitted
    return CostsOfThresholds(
        positive=positive,
        are_probabilities=found.are_probabilities,
        cheapest=None if found.best is None else _point(found, found.best),
        crossfitted_mean_cost=None if others is None else others.mean_cost,
        crossfitted_missed=None if others is None else others.missed,
        crossfitted_false_positives=None if others is None else others.false_alarms,
        in_use={
            "threshold": None if place is None else _threshold(found, place),
            "mean_cost": found.in_use.to_dict(),
        },
        implied={
            "threshold": found.implied,
            "mean_cost": None if implied is None else implied.cost.to_dict(),
        },
        flag_nothing_mean_cost=_finite(found.nothing),
        flag_everything_mean_cost=_finite(found.everything),
        change=None if found.change is None else _change(found.change),
        points=_points(found),
    )


def _point(found: ThresholdCosts, point: CostPoint) -> dict[str, Any]:
    is_none = point.place == 0
    return {
        "threshold": None if is_none else _threshold(found, point.place),
        "flags_nothing": is_none,
        "mean_cost": point.cost.to_dict(),
    }


def _threshold(found: ThresholdCosts, place: int) -> float | None:
    return _finite(float(found.points.float64_thresholds[place]))


def _points(found: ThresholdCosts) -> list[ThresholdCost]:
    points = found.points
    columns = zip(
        points.float64_thresholds.tolist(),
        points.reported.tolist(),
        points.true_positives.tolist(),
        points.false_positives.tolist(),
        found.means.tolist(),
        strict=True,
    )
    return [
        ThresholdCost(
            threshold=_finite(threshold),
            flagged=flagged,
            true_positives=hits,
            false_positives=alarms,
            missed=points.n_positive - hits,
            mean_cost=_finite(cost),
        )
        for threshold, flagged, hits, alarms, cost in columns
    ]


def _prediction_rows(change: Change, costs: CostMatrix) -> list[tuple[Cell, ...]]:
    joint, names = change.joint, costs.labels.names
    triples = zip(
        joint.actual.tolist(),
        joint.first.tolist(),
        joint.second.tolist(),
        joint.counts.tolist(),
        strict=True,
    )
    return [
        (
            names[actual],
            names[before],
            names[after],
            count,
            float(costs.weights[actual, before]),
            float(costs.weights[actual, after]),
        )
        for actual, before, after, count in triples
    ]


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None


class DecisionRequest(RequestBody):
    """The decision rule to apply."""

    weights: str | Weights | list[list[float]] | None = Field(
        default=None,
        description=(
            "The name of a cost matrix, such as `visits` or `visits@2`; "
            "`{actual: {predicted: cost}}` with every cell; or rows of actual classes in the "
            "order of `labels`. By default the costs of the dataset."
        ),
    )
    labels: list[str] | None = Field(
        default=None, description="The order of rows and columns, if `weights` are rows."
    )
    threshold: _Threshold = None
    positive: _Positive = None
    prevalence: dict[str, float] | None = Field(
        default=None, description="The share of each class at deployment; they add up to 1."
    )
    save_as: str | None = Field(
        default=None,
        description="Store the predictions as a run with this name; the same rule is stored only "
        "once.",
    )
    author: str | None = None


class DecisionResponse(ResponseBody):
    """The effect of changed predictions. Costs are per sample, for the samples with a label."""

    recipe: dict[str, Any] = Field(description="The rule, and the source of its costs.")
    labels: Labels
    orientation: SourceOrientation = Field(description="Always actual_rows.")
    matrix_before: list[list[int]]
    matrix_after: list[list[int]]
    mean_cost_before: Value
    mean_cost_after: Value
    difference: Value = Field(
        description="After minus before, with its paired interval. The cheapest threshold has "
        "none, because it was chosen on these examples."
    )
    recall_changes: dict[str, Value] = Field(description="By class, with intervals as before.")
    run: str | None = Field(description="The run with the new predictions, if they were stored.")


def asked_decision(
    database: Database, run_id: str, asked: DecisionRequest, author: str | None
) -> DecisionResponse:
    """Decide the samples of an evaluated run as requested; `save_as` saves them as another run."""
    from offdiag.metrics.costs.matrix import cost_matrix
    from offdiag.metrics.costs.what_if import declared_prevalence
    from offdiag.services.decisions import rules

    if asked.weights is None or isinstance(asked.weights, str):
        costs, reference = rules.default_costs(database, run_id, asked.weights)
    else:
        weights = weights_by_class(asked.weights, asked.labels)
        costs = cost_matrix(weights, labels=rules.labels_of_run(database, run_id))
        reference = None
    shares = None
    if asked.prevalence is not None:
        shares = declared_prevalence(asked.prevalence, labels=costs.labels)
    basis = rules.cost_basis_of(costs, shares, reference)
    choice = rules.Choice.of(asked.threshold, asked.positive)
    trial = rules.try_rule(database, run_id, basis, choice)
    saved = None
    if asked.save_as is not None:
        saved = rules.save_choice(
            database, run_id, basis, choice, name=asked.save_as, author=author
        )
    return DecisionResponse.made_of(
        _change(trial.change),
        recipe=trial.recipe,
        labels=labels_document(trial.change.joint.first_matrix.labels),
        orientation=SourceOrientation.ACTUAL_ROWS,
        recall_changes={each.label: each.difference for each in trial.change.classes},
        run=None if saved is None else saved.id,
    )
