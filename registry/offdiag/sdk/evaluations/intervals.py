"""Adding intervals to an evaluation made in memory, the same as those of a stored run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.intervals import multilabel as of_sets
from offdiag.metrics.intervals import scores as of_scores
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.suite import suite_intervals as of_matrix
from offdiag.metrics.suite import labelled_suite
from offdiag.metrics.weighted.intervals import weighted_suite_intervals
from offdiag.sdk.evaluations.evaluate import WeightedEvaluation
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.sdk.evaluations.multilabel import MultilabelEvaluation
from offdiag.sdk.evaluations.scores import ScoreEvaluation, WeightedScoreEvaluation
from offdiag.sdk.evaluations.tables import ClassValues, MetricTable

CountedEvaluation = TypeVar("CountedEvaluation", bound=Evaluation | WeightedEvaluation)
ScoredEvaluation = TypeVar("ScoredEvaluation", bound=ScoreEvaluation | WeightedScoreEvaluation)

STORED_SEED = 1
"""The seed of the intervals of stored runs, so that both give the same ends."""


def suite_intervals(
    evaluation: CountedEvaluation,
    *,
    confidence: float = 0.95,
    replicates: int = 2_000,
    seed: int = STORED_SEED,
) -> CountedEvaluation:
    """The evaluation of a confusion matrix with the interval of every metric that has one.

    The ends are `ci_low` and `ci_high` of each value. `ci_method` names the method and says what
    to know before trusting the interval. Intervals of weighted samples are those of the number of
    equally weighted samples with the same variance.

    * `confidence`: the level of the intervals. Default: 0.95.
    * `replicates`: the number of draws. Default: 2,000.
    * `seed`: the seed of the draws; the same seed and replicates give identical results. Default:
      that of stored runs.

    Raises `InvalidInput` for a confidence outside (0, 1) or no replicates.

    >>> from offdiag.sdk.evaluations.evaluate import evaluate_matrix
    >>> plain = evaluate_matrix([[8, 2], [1, 9]], orientation="actual_rows")
    >>> recall = suite_intervals(plain).per_class["recall"]["0"]
    >>> round(recall.ci_low, 3), round(recall.ci_high, 3), recall.ci_method
    (0.49, 0.943, 'wilson')
    """
    if isinstance(evaluation, WeightedEvaluation):
        counted = evaluation.matrix.counted
        suite = labelled_suite(counted.sums, counted.labels)
        found = weighted_suite_intervals(
            counted, suite, seed=seed, confidence=confidence, replicates=replicates
        )
    else:
        found = of_matrix(
            evaluation.matrix, seed=seed, confidence=confidence, replicates=replicates
        )
    labels = evaluation.matrix.labels
    aggregate = _with_aggregates(
        evaluation.aggregate, {key: each.at() for key, each in found.aggregate.items()}
    )
    per_class = _with_classes(
        labels,
        evaluation.per_class,
        {
            key: [each.at(code) for code in range(len(labels))]
            for key, each in found.per_class.items()
        },
    )
    if isinstance(evaluation, Evaluation):
        # Scorers such as f1 are found among the values of the positive class.
        by_class = {key: list(values.values()) for key, values in per_class.items()}
        again = Evaluation.of_values(evaluation.counted, aggregate=aggregate, per_class=by_class)
        aggregate = again.aggregate
    return replace(evaluation, aggregate=aggregate, per_class=per_class, confidence=confidence)


def score_intervals(
    evaluation: ScoredEvaluation,
    *,
    confidence: float = 0.95,
    replicates: int = 2_000,  # noqa: ARG001 - scripts may still name it
    seed: int = STORED_SEED,
) -> ScoredEvaluation:
    """The evaluation of scores with the interval of every metric that has one.

    * `confidence`: the level of the intervals. Default: 0.95.
    * `seed`: the seed of the draws from a calibrated model, with which calibration errors are
      compared. Default: that of stored runs.
    * `replicates`: without effect, because nothing is resampled.

    Raises `InvalidInput` for a confidence outside (0, 1).
    """
    if isinstance(evaluation, WeightedScoreEvaluation):
        again = WeightedScoreEvaluation.of(
            evaluation.weighted,
            evaluation.label_set,
            n_samples=evaluation.n_samples,
            confidence=confidence_level(confidence),
        )
        return replace(
            evaluation,
            aggregate=again.aggregate,
            per_class=again.per_class,
            confidence=again.confidence,
        )
    found = of_scores.score_intervals(evaluation.forecasts, seed=seed, confidence=confidence)
    by_class = of_scores.class_score_intervals(evaluation.forecasts, confidence=confidence)
    return replace(
        evaluation,
        aggregate=_with_aggregates(
            evaluation.aggregate, found, n_classes=len(evaluation.label_set)
        ),
        per_class=_with_classes(evaluation.label_set, evaluation.per_class, by_class),
        confidence=confidence,
    )


def multilabel_intervals(
    evaluation: MultilabelEvaluation,
    *,
    confidence: float = 0.95,
    replicates: int = 2_000,  # noqa: ARG001 - scripts may still name it
    seed: int = STORED_SEED,  # noqa: ARG001 - scripts may still name it
) -> MultilabelEvaluation:
    """The evaluation of label sets with the interval of every metric that has one.

    Of the metrics of a label, rates have intervals, and areas if there are scores. `confidence` is
    the level, by default 0.95. `replicates` and `seed` have no effect, because nothing is
    resampled. Raises `InvalidInput` for a confidence outside (0, 1).
    """
    found = of_sets.multilabel_intervals(
        evaluation.actual, evaluation.predicted, evaluation.scores, confidence=confidence
    )
    return replace(
        evaluation,
        aggregate=_with_aggregates(evaluation.aggregate, found.aggregate),
        per_label=_with_classes(evaluation.label_set, evaluation.per_label, found.per_label),
        confidence=confidence,
    )


def _with_aggregates(
    values: Mapping[str, MetricValue],
    found: Mapping[str, Interval],
    *,
    n_classes: int | None = None,
) -> MetricTable[MetricValue]:
    return MetricTable(
        {
            key: found[key].around(value) if key in found else value
            for key, value in values.items()
        },
        n_classes=n_classes,
    )


def _with_classes(
    labels: LabelSet, values: Mapping[str, ClassValues], found: Mapping[str, Sequence[Interval]]
) -> MetricTable[ClassValues]:
    return MetricTable(
        {
            key: ClassValues(labels, _around(by_class, found[key])) if key in found else by_class
            for key, by_class in values.items()
        }
    )


def _around(values: ClassValues, intervals: Sequence[Interval]) -> list[MetricValue]:
    pairs = zip(intervals, values.values(), strict=True)
    return [interval.around(value) for interval, value in pairs]
