"""The computation of an evaluation: from its inputs to all metrics, without reading or writing.

Costs are stored with an evaluation. Multi-label evaluations have curves of each label; a run with
collapsed groups of classes is evaluated on request.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from offdiag.domain.hierarchy import Collapse, Hierarchy, collapse_groups
from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue, Reason
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix, collapsed
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.counted import Counted, CountedSets, matrix_of
from offdiag.metrics.intervals import custom_samples as custom
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.costs import cost_intervals
from offdiag.metrics.intervals.draws import INTERVAL_SEED
from offdiag.metrics.intervals.multilabel import multilabel_intervals
from offdiag.metrics.intervals.score_cells import cell_values, class_cell_values
from offdiag.metrics.intervals.scores import class_score_intervals, score_intervals
from offdiag.metrics.intervals.suite import SuiteIntervals, suite_intervals
from offdiag.metrics.multilabel.suite import (
    LabelledSets,
    label_metrics,
    label_score_metrics,
    set_metrics,
    set_score_metrics,
)
from offdiag.metrics.scores.forecasts import CLASS_AXIS, Forecasts
from offdiag.metrics.scores.score_cells import ClassCells, ScoreCells
from offdiag.metrics.scores.score_curves import (
    ScoreCurve,
    cell_curves,
    class_cell_curves,
    label_curves,
    score_curves,
)
from offdiag.metrics.scores.suite import class_metrics, score_metrics
from offdiag.metrics.suite import SUITE_VERSION, Suite, labelled_suite
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.metrics.weighted.intervals import weighted_costs, weighted_suite_intervals
from offdiag.metrics.weighted.scores import weighted_class_metrics, weighted_score_metrics
from offdiag.services.evaluation.inputs import EvaluationInputs, positive_code
from offdiag.store import datasets, runs
from offdiag.store.database import Database
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.evaluations_write import NewEvaluation
from offdiag.version import offdiag_version


@dataclass(frozen=True)
class EvaluatedValues:
    """All aggregates by key, and for each per-class key its K values in label order."""

    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, Sequence[MetricValue]]


def of_sets(counted: CountedSets, sets: LabelledSets) -> EvaluatedValues:
    """All metrics of label sets. `counted` is the sum of the counts of chunks of `sets`."""
    aggregate = dict(set_metrics(counted.tally))
    per_label = dict(label_metrics(counted.tally.labels))
    if sets.scores is not None:
        aggregate |= set_score_metrics(sets.actual, sets.scores)
        per_label |= label_score_metrics(sets.actual, sets.scores)
    found = multilabel_intervals(sets.actual, sets.predicted, sets.scores)
    return EvaluatedValues(
        {
            **{key: _around(value, found.aggregate.get(key)) for key, value in aggregate.items()},
            **custom.set_values(sets.actual, sets.predicted, counted.labels.names),
        },
        {
            key: [
                _around(value, found.per_label[key][code] if key in found.per_label else None)
                for code, value in enumerate(values)
            ]
            for key, values in per_label.items()
        },
    )


def label_curves_of(counted: CountedSets, sets: LabelledSets | None) -> tuple[ScoreCurve, ...]:
    """The curves of each label against the rest; empty without scores."""
    if sets is None or sets.scores is None:
        return ()
    labels = counted.tally.labels
    return label_curves(
        sets.actual, sets.scores, hits=labels.true_positives, predicted=labels.predicted
    )


def _around(value: MetricValue, interval: Interval | None) -> MetricValue:
    return value if interval is None else interval.around(value)


__all__ = [
    "INTERVAL_SEED",
    "EvaluatedValues",
    "curves_of",
    "evaluate",
    "new_evaluation",
    "of_matrix",
    "of_predictions",
    "of_scores",
]


def evaluate(inputs: EvaluationInputs) -> EvaluatedValues:
    """All metrics of a run with their intervals. The same inputs give the same bits."""
    if isinstance(inputs.counted, CountedSets):
        assert inputs.sets is not None  # noqa: S101  # They are read with the counts.
        return of_sets(inputs.counted, inputs.sets)
    if isinstance(inputs.counted, WeightedCounts):
        return of_weights(inputs)
    if inputs.cells is None:
        return of_predictions(inputs.counted, inputs.forecasts)
    return _together(of_matrix(inputs.counted), _of_counted(inputs, inputs.cells))


def of_predictions(matrix: ConfusionMatrix, forecasts: Forecasts | None) -> EvaluatedValues:
    """All metrics of a matrix, and of the scores of the same samples if there are any."""
    values = of_matrix(matrix)
    if forecasts is None:
        return values
    return _together(values, of_scores(forecasts, matrix.labels.names))


def _together(values: EvaluatedValues, scored: EvaluatedValues) -> EvaluatedValues:
    return EvaluatedValues(
        {**values.aggregate, **scored.aggregate}, {**values.per_class, **scored.per_class}
    )


def new_evaluation(inputs: EvaluationInputs, *, began: float) -> NewEvaluation:
    """The evaluation of a run or a slice, as stored; `began` is its start by `perf_counter`."""
    values = evaluate(inputs)
    curves = () if inputs.part is not None else curves_of(inputs)
    return NewEvaluation(
        run_id=inputs.run.id,
        truth_version_id=None if inputs.truth is None else inputs.truth.id,
        suite_version=SUITE_VERSION,
        engine_version=offdiag_version(),
        input_digest=inputs.digest,
        n_cases=inputs.n_cases,
        counted=inputs.counted,
        aggregate=values.aggregate,
        per_class=values.per_class,
        duration_s=time.perf_counter() - began,
        slice=None if inputs.part is None else str(inputs.part),
        curves=curves,
    )


def curves_of(inputs: EvaluationInputs) -> tuple[ScoreCurve, ...]:
    """The curves drawn from the scores; empty without scores and if samples have weights."""
    if isinstance(inputs.counted, CountedSets):
        return label_curves_of(inputs.counted, inputs.sets)
    if isinstance(inputs.counted, WeightedCounts):
        return ()
    if isinstance(inputs.cells, ClassCells):
        return class_cell_curves(inputs.cells, inputs.counted.counts)
    if inputs.cells is not None:
        positive = positive_code(inputs.dataset)
        return cell_curves(inputs.cells, inputs.counted.counts, positive=positive)
    if inputs.forecasts is None:
        return ()
    return score_curves(inputs.forecasts, inputs.counted.counts)


def of_matrix(matrix: ConfusionMatrix) -> EvaluatedValues:
    """All metrics of a matrix, with intervals for those that have one."""
    suite = labelled_suite(matrix.counts, matrix.labels)
    return _with_intervals(suite, suite_intervals(matrix, seed=INTERVAL_SEED), matrix.n_classes)


def of_weights(inputs: EvaluationInputs) -> EvaluatedValues:
    """All metrics of sums of weights, and those of the scores of weighted samples."""
    counted = inputs.counted
    assert isinstance(counted, WeightedCounts)  # noqa: S101  # The caller has checked it.
    suite = labelled_suite(counted.sums, counted.labels)
    found = weighted_suite_intervals(counted, suite, seed=INTERVAL_SEED)
    values = _with_intervals(suite, found, counted.n_classes)
    if not inputs.run.score_columns:
        return values
    return _together(values, _of_weighted_scores(inputs))


def _of_weighted_scores(inputs: EvaluationInputs) -> EvaluatedValues:
    """Metrics not implemented for weights are undefined, and so are all declared ones."""
    found = inputs.weighted
    positive = inputs.dataset.positive_label
    no_scores = Forecasts(
        np.zeros(0, dtype=np.uint8),
        np.zeros((0, inputs.run.score_columns), dtype=np.float32),
        n_classes=inputs.counted.n_classes,
        positive=None if positive is None else inputs.dataset.labels.index[positive],
    )
    if found is not None and found.forecasts.n_samples == 0:
        return _undefined(no_scores, Reason.NO_SAMPLES)
    nothing = _undefined(no_scores, Reason.SCORES_NOT_WEIGHTED)
    if found is None:
        return nothing
    return EvaluatedValues(
        {**nothing.aggregate, **weighted_score_metrics(found)}, weighted_class_metrics(found)
    )


def _with_intervals(suite: Suite, found: SuiteIntervals, n_classes: int) -> EvaluatedValues:
    aggregate = {key: quantity.at() for key, quantity in suite.aggregate.items()}
    per_class = {
        key: [quantity.at(code) for code in range(n_classes)]
        for key, quantity in suite.per_class.items()
    }
    for key, intervals in found.aggregate.items():
        aggregate[key] = intervals.at().around(aggregate[key])
    for key, intervals in found.per_class.items():
        per_class[key] = [
            intervals.at(code).around(value) for code, value in enumerate(per_class[key])
        ]
    return EvaluatedValues(aggregate, per_class)


def of_scores(forecasts: Forecasts, names: tuple[str, ...] = ()) -> EvaluatedValues:
    """Metrics of scores beyond the predicted class: ranking, calibration, proper scores.

    `names` are the names of the classes, for declared metrics.
    """
    if forecasts.n_samples == 0:
        return _undefined(forecasts, Reason.NO_SAMPLES)
    # Classes first: the ranking of a class without a column is removed before that of the top
    # label.
    per_class = class_metrics(forecasts)
    by_class = class_score_intervals(forecasts)
    found = score_intervals(forecasts, seed=INTERVAL_SEED)
    aggregate = dict(score_metrics(forecasts))
    for key, interval in found.items():
        aggregate[key] = interval.around(aggregate[key])
    return EvaluatedValues(
        aggregate | custom.score_values(forecasts, names),
        {
            key: [
                interval.around(value)
                for interval, value in zip(by_class[key], values, strict=True)
            ]
            for key, values in per_class.items()
        },
    )


def _of_counted(inputs: EvaluationInputs, cells: ScoreCells | ClassCells) -> EvaluatedValues:
    """Metrics of scores counted in cells, each with a bound on its error."""
    if isinstance(cells, ClassCells):
        found = class_cell_values(cells)
    else:
        positive = positive_code(inputs.dataset)
        found = cell_values(cells, positive=positive)
    return EvaluatedValues({**found.aggregate, **custom.undefined_in_cells()}, found.per_class)


def _undefined(forecasts: Forecasts, reason: Reason) -> EvaluatedValues:
    """The keys that the scores of samples would have, each undefined for this reason."""
    nothing = MetricValue(None, reason.value)
    n_columns = int(forecasts.scores.shape[CLASS_AXIS])
    one_case = replace(
        forecasts,
        actual=np.zeros(1, dtype=np.uint8),
        scores=np.full((1, n_columns), 1 / max(n_columns, 2), dtype=np.float32),
    )
    scored = of_scores(one_case)
    return EvaluatedValues(
        dict.fromkeys(scored.aggregate, nothing),
        {key: [nothing] * forecasts.n_classes for key in scored.per_class},
    )


def cost_metrics(counted: Counted, costs: CostMatrix) -> Mapping[str, MetricValue]:
    """The costs of a matrix, or of sums of weights, by key, with intervals if they have any.

    The same inputs give the same bits. Raises `Conflict` if samples have sets of labels.
    """
    if isinstance(counted, WeightedCounts):
        return weighted_costs(counted, costs, seed=INTERVAL_SEED)
    matrix = matrix_of(counted)
    found = evaluate_costs(matrix.counts, costs.weights)
    intervals = cost_intervals(matrix, costs, seed=INTERVAL_SEED)
    values = {key: quantity.at() for key, quantity in found.items()}
    return values | {key: interval.around(values[key]) for key, interval in intervals.items()}


@dataclass(frozen=True)
class CollapsedEvaluation:
    """The matrix of the classes that remain after collapsing groups, and all metrics of it.

    `classes` are the classes before.
    """

    classes: LabelSet
    onto: Collapse
    matrix: ConfusionMatrix
    values: EvaluatedValues


def collapse_matrix(
    matrix: ConfusionMatrix,
    *,
    labels: LabelSet,
    hierarchy: Hierarchy | None,
    groups: Iterable[str],
) -> CollapsedEvaluation:
    """All metrics of a matrix of `labels` with groups of its classes collapsed.

    Scores of single classes say nothing about groups, so metrics of scores are left out, and so
    are costs. Raises `InvalidInput` for unknown groups.
    """
    if hierarchy is None:
        raise InvalidInput(
            "the classes of this dataset are in no groups.",
            field="collapse",
            hint="Group them with set_hierarchy or `offdiag hierarchy`.",
        )
    onto = collapse_groups(labels, hierarchy, groups)
    smaller = collapsed(matrix, onto)
    return CollapsedEvaluation(labels, onto, smaller, of_matrix(smaller))


def collapse_evaluation(
    database: Database, stored: StoredEvaluation, groups: Iterable[str]
) -> CollapsedEvaluation:
    """The evaluation of a run with groups of the dataset's hierarchy collapsed.

    Raises `NotFound`, `InvalidInput` for unknown groups, and `Conflict` if samples have sets of
    labels.
    """
    with database.read() as session:
        run = runs.get_run(session, stored.run_id)
        known = datasets.get_dataset(session, run.dataset_id)
    return collapse_matrix(
        stored.matrix, labels=known.labels, hierarchy=known.hierarchy, groups=groups
    )
