"""Multi-label runs: which labels are confused, and what errors of each label cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import Task
from offdiag.domain.values import MetricValue, Reason
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix
from offdiag.metrics.intervals.means import mean_interval
from offdiag.metrics.multilabel.sets import unpack_sets
from offdiag.metrics.multilabel.suite import LabelledSets
from offdiag.metrics.multilabel.tally import LabelCounts, count_labels
from offdiag.metrics.multilabel_runs.confused import ConfusedLabel, confused_labels
from offdiag.metrics.multilabel_runs.paired import PairedSets
from offdiag.metrics.scores.score_curves import ScoreCurve
from offdiag.services.decisions.thresholds import ThresholdCosts, threshold_costs_of
from offdiag.services.evaluation.compute import cost_metrics
from offdiag.services.evaluation.inputs import read_inputs, truth_that_counts
from offdiag.services.paired_runs import NotPaired, Paired, pair_runs
from offdiag.store import datasets, runs
from offdiag.store.database import Database, Session
from offdiag.store.evaluations_write import curves_of_runs

MOST_MEMBERS = 100_000_000
"""Most samples times labels for which sets are read while a user waits."""


@dataclass(frozen=True)
class ConfusedLabels:
    """The significant confusions of labels in a run, as sentences, from `n` labelled examples."""

    run_id: str
    n: int
    n_labels: int
    confidence: float
    found: tuple[ConfusedLabel, ...]


def confused_labels_of(
    database: Database, run_id: str, *, confidence: float = 0.95
) -> ConfusedLabels:
    """Which labels are missed, added, or predicted in place of another label, and when.

    Raises `NotFound`, `InvalidInput` for a confidence outside (0, 1), and `Conflict` for a run
    whose examples have one class each.
    """
    level = confidence_level(confidence)
    with database.read() as session:
        sets, labels = sets_of_run(session, run_id)
    found = confused_labels(sets.actual, sets.predicted, labels, confidence=level)
    return ConfusedLabels(run_id, sets.n_samples, len(labels), level, found)


def sets_of_run(session: Session, run_id: str) -> tuple[LabelledSets, LabelSet]:
    """The labelled sets of a multi-label run, and its labels.

    Raises like `confused_labels_of`.
    """
    run = runs.get_run(session, run_id)
    dataset = datasets.get_dataset(session, run.dataset_id)
    if dataset.task is not Task.MULTILABEL:
        raise Conflict(
            f"the examples of run {run_id} have one class each.",
            field="run",
            hint="Its confusion matrix shows which classes are confused.",
        )
    if run.n_predictions * len(dataset.labels) > MOST_MEMBERS:
        raise Conflict(
            f"run {run_id} has {run.n_predictions:,} sets of {len(dataset.labels):,} labels.",
            field="run",
            hint=f"At most {MOST_MEMBERS:,} members of sets are read at once.",
        )
    sets = read_inputs(session, run_id).sets
    assert sets is not None  # noqa: S101  # Every multi-label run has them.
    return sets, dataset.labels


PRESENT = 1
"""The code of a label that is present."""
TWO = LabelSet(("absent", "present"))
CONFIDENCE = 0.95

Sets = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OutcomeCosts:
    """What an outcome of a label costs, by whether it is present and whether it is predicted."""

    miss: float = 1.0
    false_alarm: float = 1.0
    hit: float = 0.0
    right_rejection: float = 0.0


@dataclass(frozen=True)
class LabelCost:
    """What the errors of one label cost, and the cheaper of always and never predicting it.

    `costs` are the expected-cost values of a run of two classes, by key. `thresholds` is None
    without scores.
    """

    label: str
    outcomes: OutcomeCosts
    support: int
    missed: int
    false_alarms: int
    costs: Mapping[str, MetricValue]
    thresholds: ThresholdCosts | None

    @property
    def constant(self) -> str:
        """The cheaper constant prediction, "always" or "never"."""
        return "always" if self.costs["best_trivial_class"].value == PRESENT else "never"


@dataclass(frozen=True)
class LabelCosts:
    """What the errors of a run cost per example.

    `constant` is the mean cost with the cheaper constant prediction of every label. `chosen` is
    the mean cost with the cheapest threshold of every label, estimated by cross-fitting on
    examples for which it was not chosen; None if a label has no scores or fewer than five examples
    on a side. `difference` is the run minus the baseline, example by example.
    """

    run_id: str
    n: int
    labels: tuple[LabelCost, ...]
    mean: MetricValue
    constant: float
    chosen: float | None
    baseline: str | None
    difference: MetricValue | None
    not_paired: str | None


def label_costs_of(
    database: Database,
    run_id: str,
    *,
    costs: Mapping[str, OutcomeCosts],
    others: OutcomeCosts | None = None,
    baseline: str | None = None,
) -> LabelCosts:
    """Compute what the errors of a run cost: `costs` by label, `others` for labels not in it.

    Raises `NotFound`, `InvalidInput` for an unknown label and for costs that are not finite or all
    0, and `Conflict` for a run whose examples have one class each.
    """
    with database.read() as session:
        sets, labels = sets_of_run(session, run_id)
        for name in costs:
            labels.code_of(name, field_name="costs")
        outcomes = tuple(costs.get(name, others or OutcomeCosts()) for name in labels.names)
        curves = curves_of_runs(session, [run_id], range(len(labels))).get(run_id, {})
        pair = None if baseline is None else _pair(session, baseline, run_id)
    weights = tuple(_two_class_costs(each) for each in outcomes)
    counts = count_labels(sets.actual, sets.predicted)
    found = tuple(
        _label_cost(code, name, outcomes[code], weights[code], counts, curves.get(code))
        for code, name in enumerate(labels.names)
    )
    chosen = [each.thresholds.crossfitted if each.thresholds else None for each in found]
    return LabelCosts(
        run_id=run_id,
        n=sets.n_samples,
        labels=found,
        mean=_mean(set_costs(sets.actual, sets.predicted, weights)),
        constant=sum(each.costs["best_trivial_cost"].value or 0.0 for each in found)
        / max(sets.n_samples, 1),
        chosen=sum(each.mean_cost for each in chosen if each) if all(chosen) else None,
        baseline=baseline,
        difference=_difference(pair, weights) if isinstance(pair, PairedSets) else None,
        not_paired=pair.why if isinstance(pair, NotPaired) else None,
    )


def set_costs(actual: Sets, predicted: Sets, weights: Sequence[CostMatrix]) -> Floats:
    """The cost of each of n examples: the sum of the costs of its labels, (n,)."""
    total = np.zeros(len(actual))
    for code, costs in enumerate(weights):
        total += costs.weights[actual[:, code].astype(np.intp), predicted[:, code].astype(np.intp)]
    return total


def _two_class_costs(costs: OutcomeCosts) -> CostMatrix:
    rows = [[costs.right_rejection, costs.false_alarm], [costs.miss, costs.hit]]
    return cost_matrix(rows, labels=TWO)


def _pair(session: Session, baseline: str, run_id: str) -> Paired | NotPaired:
    first, second = (runs.get_run(session, each) for each in (baseline, run_id))
    if baseline == run_id:
        raise InvalidInput(
            f"{run_id} would be compared with itself.",
            field="baseline",
            hint="Name another run.",
        )
    truth = truth_that_counts(session, second)
    return pair_runs(session, first, second, truth_id=None if truth is None else truth.id)


def _label_cost(  # noqa: PLR0917 - the facts of one label
    code: int,
    name: str,
    outcomes: OutcomeCosts,
    costs: CostMatrix,
    counts: LabelCounts,
    curve: ScoreCurve | None,
) -> LabelCost:
    cells = counts.one_vs_rest()
    hit, missed, alarms, rejected = (
        int(part[code]) for part in (cells.tp, cells.fn, cells.fp, cells.tn)
    )
    matrix = ConfusionMatrix(np.array([[rejected, alarms], [missed, hit]], np.int64), TWO)
    thresholds = None
    if curve is not None:
        as_two = ScoreCurve(PRESENT, curve.points, curve.bins, curve.histogram)
        thresholds = threshold_costs_of(as_two, matrix, costs, prevalence=None)
    return LabelCost(
        name, outcomes, hit + missed, missed, alarms, cost_metrics(matrix, costs), thresholds
    )


def _mean(costs: Floats) -> MetricValue:
    if not len(costs):
        return MetricValue(None, Reason.NO_SAMPLES.value)
    interval = mean_interval(costs, low=-inf, high=inf, confidence=CONFIDENCE)
    return interval.around(MetricValue(float(costs.mean())))


def _difference(pair: PairedSets, weights: Sequence[CostMatrix]) -> MetricValue:
    n_labels = len(pair.labels)
    actual, before, after = (
        unpack_sets(bits, n_labels) for bits in (pair.actual, *pair.predictions)
    )
    return _mean(set_costs(actual, after, weights) - set_costs(actual, before, weights))
