"""`offdiag.cost`: what the errors of a classifier cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np

from offdiag.domain.column_names import by_label
from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.look_alikes import warn_of
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.texts import CostName
from offdiag.domain.values import MetricValue
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.arguments import refuse_totals, stated_matrix
from offdiag.metrics.confusion import ConfusionMatrix, confusion_matrix, notes_on_matrix
from offdiag.metrics.costs.decisions import finite_threshold
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.costs.what_if import declared_prevalence
from offdiag.metrics.counted import matrix_of
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.records.base import Request
from offdiag.records.cost import Costs, costs_request
from offdiag.records.decision import DecisionRequest, DecisionResponse, asked_decision
from offdiag.sdk.evaluations.evaluate import WeightedEvaluation
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.sdk.evaluations.tables import MetricTable
from offdiag.sdk.registry import Decision, Registry, Threshold, run_of
from offdiag.sdk.target import current_author

if TYPE_CHECKING:
    import pandas as pd

TRIVIAL_CLASS = "best_trivial_class"


@runtime_checkable
class Evaluated(Protocol):
    """Anything that has an evaluation, such as a run."""

    def evaluation(self) -> Evaluation: ...


@runtime_checkable
class Priced(Protocol):
    """Anything that finds costs by name, such as a run."""

    def costs(self, name: str) -> CostMatrix: ...


@dataclass(frozen=True, eq=False, repr=False)
class CostEvaluation(Mapping[str, MetricValue]):
    """Costs of a confusion matrix by key, returned by `cost`.

    `counted` and `costs` are what they were computed from. The value of `best_trivial_class` is a
    class code; `best_trivial_label` is its name.
    """

    counted: ConfusionMatrix | WeightedCounts
    costs: CostMatrix
    by_key: Mapping[str, MetricValue]

    def __getitem__(self, key: str) -> MetricValue:
        return self.by_key[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_key)

    def __len__(self) -> int:
        return len(self.by_key)

    @property
    def matrix(self) -> ConfusionMatrix:
        """The confusion matrix of counts. Raises `Conflict` for weighted samples."""
        return matrix_of(self.counted)

    @property
    def best_trivial_label(self) -> str | None:
        """The class whose constant prediction costs least; None if undefined."""
        code = self.by_key[TRIVIAL_CLASS].value
        return None if code is None else self.counted.labels.names[int(code)]

    def __repr__(self) -> str:
        unit = f" {self.costs.currency}" if self.costs.currency else ""
        total, trivial = self.by_key["total_cost"], self.by_key["best_trivial_cost"]
        always = f", always predicting {self.best_trivial_label!r} {trivial}{unit}"
        return f"CostEvaluation of {self.counted.total:,} examples: {total}{unit}{always}"

    def __str__(self) -> str:
        values = {key: str(value) for key, value in self.by_key.items()}
        if self.best_trivial_label is not None:
            values[TRIVIAL_CLASS] = self.best_trivial_label
        width = max(map(len, values))
        return "\n".join(
            [repr(self), *(f"{key:<{width}}  {said}" for key, said in values.items())]
        )

    def _repr_html_(self) -> str:
        from offdiag.sdk.display.evaluation_card import metric_card

        return metric_card(repr(self), self.by_key)

    def to_frame(self) -> pd.DataFrame:
        """A row for each cost, with the columns value, ci_low, ci_high and reason."""
        return MetricTable(self.by_key).to_frame()

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Plain values: `{key: {"value", "reason", "limit"}}`, the class code as a whole number.

        `best_trivial_class` also has the "label" of its class.
        """
        found = {key: value.to_dict() for key, value in self.by_key.items()}
        trivial = found[TRIVIAL_CLASS]
        if trivial["value"] is not None:
            trivial["value"] = int(trivial["value"])
        trivial["label"] = self.best_trivial_label
        return found


def cost(
    matrix: object,
    *,
    weights: object,
    labels: LabelSet | Iterable[object] | None = None,
    orientation: str | None = None,
    prevalence: Mapping[Any, Any] | Iterable[float] | None = None,
    currency: str | None = None,
    project: str | None = None,
    url: str | None = None,
) -> CostEvaluation:
    """What the errors of a classifier cost, compared with the best constant prediction.

    Returns a `CostEvaluation`.

    * `matrix`: a run, an evaluation, a confusion matrix, or a (K, K) table of counts. If samples
      have weights, errors cost what they weigh.
    * `weights`: the costs W[actual, predicted]: an array in label order, a mapping {actual:
      {predicted: cost}}, a frame with the actual classes as index, or the name of stored costs,
      `visits` or `visits@2`.
    * `labels`: the classes of a table of counts.
    * `orientation`: "actual_columns" if the rows of a table of counts are predicted classes.
      Default: the named axes of a DataFrame, else actual classes as rows, like the weights. It
      never applies to the weights.
    * `prevalence`: the share of each class at deployment, by label, in a mapping or the index of a
      Series, or in label order.
    * `currency`: the unit of the costs.
    * `project`, `url`: where stored costs are looked up. Default: the project of a run, else the
      configured project and registry.

    Raises `InvalidInput` for unusable arguments, `NotFound` for unknown names and `Conflict` for
    stored costs of other classes.

    >>> found = cost([[90, 10], [2, 8]], weights=[[0, 1], [10, 0]])
    >>> found["total_cost"].value, found["best_trivial_cost"].value
    (30.0, 100.0)
    """
    counts = _counts(matrix, labels=labels, orientation=orientation)
    if isinstance(weights, str):
        costs = _named(matrix, weights, counts.labels, project=project, url=url)
    else:
        costs = cost_matrix(weights, labels=counts.labels, currency=currency)
    shares = None
    if prevalence is not None:
        given: Any = by_label(prevalence, counts.labels, field="prevalence")
        if not isinstance(given, (Mapping, AbstractSet)):  # A set has no order, and is refused.
            given = list(given)
        shares = declared_prevalence(given, labels=counts.labels)
    cells = counts.sums if isinstance(counts, WeightedCounts) else counts.counts
    found = evaluate_costs(cells, costs.weights, prevalence=shares)
    return CostEvaluation(counts, costs, {key: value.at() for key, value in found.items()})


def _named(
    matrix: object, name: str, labels: LabelSet, *, project: str | None, url: str | None
) -> CostMatrix:
    """Stored costs in the order of the labels."""
    # The columns of a frame are attributes too, and a class may be called "costs".
    if isinstance(matrix, Priced) and not hasattr(matrix, "__array__"):
        return matrix.costs(name)
    # Costs that are stated need no registry.
    from offdiag.sdk.target import target

    at = target(url)
    found = stored_costs(at, name, project or at.project)
    return _for_classes(
        found, labels, name, "the matrix", hint="Name costs for these classes, in this order."
    )


def _for_classes(
    found: CostMatrix, labels: LabelSet, name: str, what: str, *, hint: str
) -> CostMatrix:
    if found.labels.names != labels.names:
        raise Conflict(
            f"cost matrix {name!r} is for the classes {found.labels.preview()}, {what} has "
            f"{labels.preview()}.",
            field="weights",
            hint=hint,
        )
    return CostMatrix(found.weights, labels, found.currency)


def _counts(
    matrix: object, *, labels: LabelSet | Iterable[object] | None, orientation: str | None
) -> ConfusionMatrix | WeightedCounts:
    # The columns of a frame are attributes too, and a class may be called "evaluation".
    if isinstance(matrix, Evaluated) and not hasattr(matrix, "__array__"):
        matrix = matrix.evaluation()
    if isinstance(matrix, Evaluation):
        matrix = matrix.weights if matrix.is_weighted else matrix.matrix
    elif isinstance(matrix, WeightedEvaluation):
        matrix = matrix.matrix.counted
    if isinstance(matrix, ConfusionMatrix | WeightedCounts):
        for field, given in (("labels", labels), ("orientation", orientation)):
            if given is not None:
                raise InvalidInput(
                    "a run, an evaluation and a confusion matrix have their own.",
                    field=field,
                    hint="Leave it out.",
                )
        return matrix
    stated = stated_matrix(
        matrix, labels=labels, orientation=orientation, otherwise=SourceOrientation.ACTUAL_ROWS
    )
    names = None if stated.labels is None else LabelSet.declared(stated.labels)
    found = confusion_matrix(stated.matrix, labels=names, orientation=stated.orientation)
    refuse_totals(found.counts, found.labels.names)
    warn_of(notes_on_matrix(stated.matrix))
    return found


def stored_costs(registry: Registry, name: str, project: str) -> CostMatrix:
    """Stored costs by name, or by name and version as `name@2`. Raises `NotFound`."""
    wanted = CostName.parse(name)
    return cost_matrix_in(registry.ask(costs_request(project, wanted)))


def cost_matrix_in(found: Costs) -> CostMatrix:
    """The cost matrix of a document."""
    labels = LabelSet(tuple(found.labels))
    weights = [[found.weights[row][column] for column in labels.names] for row in labels.names]
    return CostMatrix(np.array(weights, dtype=np.float64), labels, found.currency)


def costs_for_run(registry: Registry, run_id: str, project: str, name: str) -> CostMatrix:
    """Stored costs of the project of a run. Raises `Conflict` unless they have its classes."""
    found = stored_costs(registry, name, project)
    labels = run_of(registry, run_id).labels.label_set()
    return _for_classes(
        found, labels, name, f"run {run_id}", hint="Name costs for the classes of the run."
    )


def decide(
    registry: Registry,
    run_id: str,
    *,
    weights: object,
    threshold: Threshold,
    positive: str | None,
    prevalence: object,
    save_as: str | None,
) -> Decision[str]:
    """Apply a decision rule to an evaluated run, as `Run.decide` describes."""
    asked = DecisionRequest.asked(
        **_cost_basis(registry, run_id, weights, prevalence),
        threshold=_threshold(threshold),
        positive=positive,
        save_as=save_as,
        author=current_author(),
    )
    found = registry.ask(
        Request(
            f"/runs/{run_id}/decisions",
            DecisionResponse,
            lambda at: asked_decision(at, run_id, asked, asked.author),
            asked,
            "POST",
        )
    )
    labels = found.labels.label_set()
    return Decision(
        recipe=found.recipe,
        mean_cost_before=found.mean_cost_before.measured(),
        mean_cost_after=found.mean_cost_after.measured(),
        difference=found.difference.measured(),
        matrix_before=ConfusionMatrix(np.array(found.matrix_before, dtype=np.int64), labels),
        matrix_after=ConfusionMatrix(np.array(found.matrix_after, dtype=np.int64), labels),
        recall_changes={key: value.measured() for key, value in found.recall_changes.items()},
        run=found.run,
    )


def _cost_basis(
    registry: Registry, run_id: str, weights: object, prevalence: object
) -> dict[str, Any]:
    """Costs and shares as plain values, checked here, where arrays and frames are at hand."""
    is_named = weights is None or isinstance(weights, str)
    if is_named and prevalence is None:
        return {"weights": weights}
    labels = run_of(registry, run_id).labels.label_set()
    asked: dict[str, Any] = {"weights": weights}
    if not is_named:
        rows = cost_matrix(weights, labels=labels).weights.tolist()
        asked = {"weights": rows, "labels": list(labels.names)}
    if prevalence is not None:
        asked["prevalence"] = _shares(prevalence, labels)
    return asked


def _shares(given: object, labels: LabelSet) -> dict[str, float]:
    """The shares as given; rounded ones are rescaled where they are used."""
    given = by_label(given, labels, field="prevalence")
    stated = given if isinstance(given, Mapping) else cast("Any", given)
    declared_prevalence(stated, labels=labels)
    if isinstance(given, Mapping):
        return {
            label_text(key, field_name="prevalence"): float(share) for key, share in given.items()
        }
    return dict(zip(labels.names, np.asarray(stated, dtype=np.float64).tolist(), strict=True))


def _threshold(given: Threshold) -> Threshold:
    return given if given is None or given == "cheapest" else finite_threshold(given)
