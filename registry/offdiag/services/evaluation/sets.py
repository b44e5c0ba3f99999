"""The evaluation of sets of labels: every value with its interval, and curves of each label."""

from __future__ import annotations

from offdiag.domain.values import MetricValue
from offdiag.metrics.counted import CountedSets
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.multilabel import multilabel_intervals
from offdiag.metrics.multilabel.suite import (
    LabelledSets,
    label_metrics,
    label_score_metrics,
    set_metrics,
    set_score_metrics,
)
from offdiag.metrics.scores.score_curves import ScoreCurve, label_curves
from offdiag.services.evaluation.values import INTERVAL_SEED, EvaluatedValues


def of_sets(counted: CountedSets, sets: LabelledSets) -> EvaluatedValues:
    """Every metric of sets. `counted` is the sum of what was counted in chunks of `sets`."""
    aggregate = dict(set_metrics(counted.tally))
    per_label = dict(label_metrics(counted.tally.labels))
    if sets.scores is not None:
        aggregate |= set_score_metrics(sets.actual, sets.scores)
        per_label |= label_score_metrics(sets.actual, sets.scores)
    found = multilabel_intervals(sets.actual, sets.predicted, sets.scores, seed=INTERVAL_SEED)
    return EvaluatedValues(
        {key: _around(value, found.aggregate.get(key)) for key, value in aggregate.items()},
        {
            key: [
                _around(value, found.per_label[key][code] if key in found.per_label else None)
                for code, value in enumerate(values)
            ]
            for key, values in per_label.items()
        },
    )


def label_curves_of(counted: CountedSets, sets: LabelledSets | None) -> tuple[ScoreCurve, ...]:
    """Curves of each label against the rest; empty without scores."""
    if sets is None or sets.scores is None:
        return ()
    labels = counted.tally.labels
    return label_curves(
        sets.actual, sets.scores, hits=labels.true_positives, predicted=labels.predicted
    )


def _around(value: MetricValue, interval: Interval | None) -> MetricValue:
    return value if interval is None else interval.around(value)
