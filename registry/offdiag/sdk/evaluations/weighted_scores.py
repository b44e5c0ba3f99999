"""The evaluation, in memory, of scores with sample weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.metrics.scores.curves import (
    Curve,
    Thresholds,
    on_given_scores,
    precision_recall_curve,
    roc_curve,
)
from offdiag.metrics.weighted.counts import kish
from offdiag.metrics.weighted.scores import (
    WeightedForecasts,
    weighted_class_metrics,
    weighted_score_metrics,
)
from offdiag.sdk.evaluations.tables import ClassValues, MetricResults, MetricTable, class_of_curve


@dataclass(frozen=True, repr=False)
class WeightedScoreEvaluation(MetricResults):
    """Every metric of the scores of weighted samples, with intervals.

    It is read like a `ScoreEvaluation`: `aggregate[key]` is one `MetricValue`,
    `per_class[key][label]` that of a class against the rest. `n_samples` counts all samples;
    `weighted` contains those with a weight above 0. Metrics not implemented for weights are
    undefined ("scores_not_weighted").
    """

    weighted: WeightedForecasts
    label_set: LabelSet
    n_samples: int
    aggregate: MetricTable[MetricValue]
    per_class: MetricTable[ClassValues]
    positive_by_convention: bool = False
    """Whether the positive class follows from labels such as 0 and 1, because none was named."""

    @classmethod
    def of(
        cls,
        weighted: WeightedForecasts,
        labels: LabelSet,
        *,
        n_samples: int,
        positive_by_convention: bool = False,
        confidence: float = 0.95,
    ) -> WeightedScoreEvaluation:
        """Compute all metrics of at least one sample. Raises `InvalidInput` for the confidence."""
        values = weighted_score_metrics(weighted, confidence=confidence)
        per_class = weighted_class_metrics(weighted, confidence=confidence)
        return cls(
            weighted,
            labels,
            n_samples,
            MetricTable(values, n_classes=len(labels)),
            MetricTable({key: ClassValues(labels, found) for key, found in per_class.items()}),
            positive_by_convention,
        )

    @property
    def positive_label(self) -> str | None:
        """The positive class; None if there is none."""
        code = self.weighted.forecasts.positive
        return None if code is None else self.labels[code]

    @property
    def n_effective(self) -> float:
        """Kish's effective sample size: how many samples of equal weight are as informative."""
        weight = self.weighted.weight
        return float(kish(np.asarray(weight.sum()), np.asarray(np.square(weight).sum())))

    def roc_curve(self, label: object = None) -> Curve:
        """True against false positive rate at every threshold; counts are sums of weights."""
        return self._by_threshold(roc_curve, label)

    def precision_recall_curve(self, label: object = None) -> Curve:
        """Precision against recall at every threshold; counts are sums of weights."""
        return self._by_threshold(precision_recall_curve, label)

    def _about(self) -> str:
        return f"{self.n_samples:,} weighted examples, {len(self.labels)} classes"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "labels": list(self.labels),
            "positive_label": self.positive_label,
            "positive_by_convention": self.positive_by_convention,
            "weighted": True,
            "n_cases": self.n_samples,
            "n_effective": self.n_effective,
            "aggregate": self.aggregate.plain(),
            "per_class": self.per_class.plain(),
        }

    def _title(self) -> str:
        return f"Weighted metrics of scores of {self.n_samples} examples"

    def _by_threshold(self, curve_of: Callable[[Thresholds], Curve], label: object) -> Curve:
        code = self._code(label)
        curve = curve_of(self.weighted.ranked(code))
        return on_given_scores(curve) if self.weighted.forecasts.is_negated(code) else curve

    def _code(self, label: object) -> int:
        return class_of_curve(label, self.label_set, self.weighted.forecasts.positive)
