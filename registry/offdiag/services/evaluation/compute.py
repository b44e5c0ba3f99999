"""The computation itself: from inputs to every value, without reading or writing anything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import CountedSets
from offdiag.metrics.intervals.scores import class_score_intervals, score_intervals
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.scores.forecasts import CLASS_AXIS, Forecasts
from offdiag.metrics.scores.score_curves import ScoreCurve, score_curves
from offdiag.metrics.scores.suite import class_metrics, score_metrics
from offdiag.metrics.suite import evaluate_stack
from offdiag.services.evaluation.inputs import EvaluationInputs
from offdiag.services.evaluation.sets import label_curves_of, of_sets
from offdiag.services.evaluation.values import INTERVAL_SEED, EvaluatedValues

__all__ = ["INTERVAL_SEED", "EvaluatedValues", "curves_of", "evaluate", "of_matrix", "of_scores"]


def evaluate(inputs: EvaluationInputs) -> EvaluatedValues:
    """Every metric of a run with its interval. The same inputs give the same bits."""
    if isinstance(inputs.counted, CountedSets):
        assert inputs.sets is not None  # noqa: S101  # They are read with the counts.
        return of_sets(inputs.counted, inputs.sets)
    values = of_matrix(inputs.counted)
    if inputs.forecasts is None:
        return values
    scored = of_scores(inputs.forecasts)
    return EvaluatedValues(
        {**values.aggregate, **scored.aggregate}, {**values.per_class, **scored.per_class}
    )


def curves_of(inputs: EvaluationInputs) -> tuple[ScoreCurve, ...]:
    """What pictures of the scores are drawn from; empty without scores, else never."""
    if isinstance(inputs.counted, CountedSets):
        return label_curves_of(inputs.counted, inputs.sets)
    if inputs.forecasts is None:
        return ()
    return score_curves(inputs.forecasts, inputs.counted.counts)


def of_matrix(matrix: ConfusionMatrix) -> EvaluatedValues:
    """The suite of a matrix, each value with its interval where it has one."""
    suite = evaluate_stack(matrix.counts, ordinal=matrix.labels.has_declared_order)
    found = suite_intervals(matrix, seed=INTERVAL_SEED)
    aggregate = {key: quantity.at() for key, quantity in suite.aggregate.items()}
    per_class = {
        key: [quantity.at(code) for code in range(matrix.n_classes)]
        for key, quantity in suite.per_class.items()
    }
    for key, intervals in found.aggregate.items():
        aggregate[key] = intervals.at().around(aggregate[key])
    for key, intervals in found.per_class.items():
        per_class[key] = [
            intervals.at(code).around(value) for code, value in enumerate(per_class[key])
        ]
    return EvaluatedValues(aggregate, per_class)


def of_scores(forecasts: Forecasts) -> EvaluatedValues:
    """What scores tell beyond the predicted class: ranking, calibration, proper scores."""
    if forecasts.n_cases == 0:
        return _without_cases(forecasts)
    found = score_intervals(forecasts, seed=INTERVAL_SEED)
    aggregate = dict(score_metrics(forecasts))
    for key, interval in found.items():
        aggregate[key] = interval.around(aggregate[key])
    per_class = class_metrics(forecasts)
    by_class = class_score_intervals(forecasts)
    return EvaluatedValues(
        aggregate,
        {
            key: [
                interval.around(value)
                for interval, value in zip(by_class[key], values, strict=True)
            ]
            for key, values in per_class.items()
        },
    )


def _without_cases(forecasts: Forecasts) -> EvaluatedValues:
    """The keys that a case would give, each undefined because there is none."""
    nothing = MetricValue(None, Reason.NO_CASES.value)
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
