"""Evaluating scores in memory, with or without weights, and the resulting evaluations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from offdiag.domain.labels import BOOLEAN_PAIRS, LabelSet, label_text
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.domain.values import MetricValue, Reason
from offdiag.errors import InvalidInput
from offdiag.inputs.scores import score_of_no_class
from offdiag.metrics.intervals import custom_samples as custom
from offdiag.metrics.scores import curves
from offdiag.metrics.scores.calibration import DEFAULT_BINS, equal_width_bins
from offdiag.metrics.scores.curves import Curve, CurveKind, Thresholds, no_curve
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.ranking import rank_scores
from offdiag.metrics.scores.suite import class_metrics, score_metrics
from offdiag.metrics.weighted.counts import kish, read_weights, require_some_weight
from offdiag.metrics.weighted.scores import (
    WeightedForecasts,
    weighted_class_metrics,
    weighted_score_metrics,
)
from offdiag.sdk.evaluations.tables import ClassValues, MetricResults, MetricTable


class ScoreResults(MetricResults):
    """What evaluations of scores have in common: a positive class, and curves over thresholds."""

    positive_by_convention: bool

    @property
    def _forecasts(self) -> Forecasts:
        raise NotImplementedError

    def _ranked(self, code: int) -> Thresholds:
        raise NotImplementedError

    @property
    def positive_label(self) -> str | None:
        """The positive class; None if there is none."""
        code = self._forecasts.positive
        return None if code is None else self.labels[code]

    def roc_curve(self, label: object = None) -> Curve:
        """True against false positive rate at every threshold."""
        return self._by_threshold(curves.roc_curve, label)

    def precision_recall_curve(self, label: object = None) -> Curve:
        """Precision against recall at every threshold."""
        return self._by_threshold(curves.precision_recall_curve, label)

    def _by_threshold(self, curve_of: Callable[[Thresholds], Curve], label: object) -> Curve:
        code = self._code(label)
        return self._as_given(curve_of(self._ranked(code)), code)

    def _as_given(self, curve: Curve, code: int) -> Curve:
        return curves.on_given_scores(curve) if self._forecasts.is_negated(code) else curve

    def _code(self, label: object) -> int:
        """The code of the class of a curve: the given one, or else the positive one.

        Raises `InvalidInput` for an unknown label, and if there is no positive class.
        """
        if label is not None:
            return self.label_set.code_of(label)
        if self._forecasts.positive is None:
            raise InvalidInput(
                f"none of {self.label_set.preview()} is the positive class.",
                field="label",
                hint="Name the class of the curve.",
            )
        return self._forecasts.positive

    def _document(self, **samples: float) -> dict[str, Any]:
        return {
            "labels": list(self.labels),
            "positive_label": self.positive_label,
            "positive_by_convention": self.positive_by_convention,
            **samples,
            "aggregate": self.aggregate.plain(),
            "per_class": self.per_class.plain(),
        }


@dataclass(frozen=True, repr=False)
class ScoreEvaluation(ScoreResults):
    """Every metric of a set of scores, with curves on request; returned by `evaluate_scores`.

    * `aggregate[key]`: one `MetricValue`.
    * `per_class[key][label]`: the `MetricValue` of a class against the rest.
    * `forecasts`: the actual classes and the scores.

    Curves are about one class against the rest: `label`, by default the positive class. That class
    is predicted from a threshold on; a class without scores of its own is predicted if the score
    of the other class is at most the threshold.
    """

    forecasts: Forecasts
    label_set: LabelSet
    aggregate: MetricTable[MetricValue]
    per_class: MetricTable[ClassValues]
    positive_by_convention: bool = False
    """Whether the positive class follows from labels such as 0 and 1, because none was named."""
    confidence: float = 0.95

    def cost_curve(self, label: object = None) -> Curve:
        """Normalized expected cost of the best threshold against the probability cost PC(+)."""
        code = self._code(label)
        return self._as_given(curves.cost_curve(self.forecasts.ranked(code)), code)

    def reliability_curve(self, label: object = None, *, n_bins: int = DEFAULT_BINS) -> Curve:
        """Observed share against mean probability of a class, in `n_bins` bins of equal width."""
        code = self._code(label)
        if not self.forecasts.are_probabilities:
            return _no_probabilities()
        forecasts = self.forecasts
        ranked = rank_scores(forecasts.actual == code, forecasts.table[:, code])
        return curves.reliability_curve(equal_width_bins(ranked, n_bins=n_bins))

    def top_label_reliability_curve(self, *, n_bins: int = DEFAULT_BINS) -> Curve:
        """Share of correct predictions against the largest probability, in bins of equal width."""
        if not self.forecasts.are_probabilities:
            return _no_probabilities()
        ranked = self.forecasts.ranked_top_label()
        return curves.reliability_curve(equal_width_bins(ranked, n_bins=n_bins))

    def _about(self) -> str:
        return f"{self.forecasts.n_samples:,} examples, {len(self.labels)} classes"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`."""
        return self._document(n_cases=self.forecasts.n_samples)

    def _title(self) -> str:
        caption = f"Scores of {self.forecasts.n_samples} samples"
        if self.positive_label is not None:
            caption += f", positive class {self.positive_label}"
            caption += " by convention" if self.positive_by_convention else ""
        return caption

    @property
    def _forecasts(self) -> Forecasts:
        return self.forecasts

    def _ranked(self, code: int) -> Thresholds:
        return self.forecasts.ranked(code)


@dataclass(frozen=True, repr=False)
class WeightedScoreEvaluation(ScoreResults):
    """Every metric of the scores of weighted samples, with intervals.

    It is read like a `ScoreEvaluation`: `aggregate[key]` is one `MetricValue`,
    `per_class[key][label]` that of a class against the rest. `n_samples` counts all samples;
    `weighted` contains those with a weight above 0. Metrics not implemented for weights are
    undefined ("scores_not_weighted"). Counts of curves are sums of weights.
    """

    weighted: WeightedForecasts
    label_set: LabelSet
    n_samples: int
    aggregate: MetricTable[MetricValue]
    per_class: MetricTable[ClassValues]
    positive_by_convention: bool = False
    """Whether the positive class follows from labels such as 0 and 1, because none was named."""
    confidence: float = 0.95

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
            confidence,
        )

    @property
    def n_effective(self) -> float:
        """Kish's effective sample size: how many samples of equal weight are as informative."""
        weight = self.weighted.weight
        return float(kish(np.asarray(weight.sum()), np.asarray(np.square(weight).sum())))

    def _about(self) -> str:
        return f"{self.n_samples:,} weighted examples, {len(self.labels)} classes"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`."""
        return self._document(weighted=True, n_cases=self.n_samples, n_effective=self.n_effective)

    def _title(self) -> str:
        return f"Weighted metrics of scores of {self.n_samples} examples"

    @property
    def _forecasts(self) -> Forecasts:
        return self.weighted.forecasts

    def _ranked(self, code: int) -> Thresholds:
        return self.weighted.ranked(code)


def _no_probabilities() -> Curve:
    return no_curve(
        CurveKind.RELIABILITY, "mean_score", "observed_share", Reason.SCORES_NOT_PROBABILITIES
    )


@overload
def evaluate_scores(
    *,
    y_true: object,
    y_score: object,
    labels: LabelSet | Iterable[object] | None = None,
    positive_label: object = None,
    sample_weight: None = None,
) -> ScoreEvaluation: ...
@overload
def evaluate_scores(
    *,
    y_true: object,
    y_score: object,
    labels: LabelSet | Iterable[object] | None = None,
    positive_label: object = None,
    sample_weight: ArrayLike,
) -> WeightedScoreEvaluation: ...
def evaluate_scores(
    *,
    y_true: object,
    y_score: object,
    labels: LabelSet | Iterable[object] | None = None,
    positive_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> ScoreEvaluation | WeightedScoreEvaluation:
    """Compute every metric of scores against actual classes, without storing anything.

    Returns a `ScoreEvaluation`, or with `sample_weight` a `WeightedScoreEvaluation`.

    * `y_true`: n labels (str, int or bool).
    * `y_score`: (n,) of the positive class of two, or (n, K) with a column for each class, in
      label order or named after the classes in a frame or a mapping {class: scores}. Scores are
      probabilities, or any finite numbers, for which only the ranking metrics are defined.
    * `labels`: the classes in order. Default: the sorted labels found in `y_true`.
    * `positive_label`: the positive class of two. Default for 0 and 1, -1 and 1, or False and
      True: 1 or True by convention, as in scikit-learn. For other labels it is required unless
      both classes have a column: then there is no positive class, and metrics that need one are
      missing.
    * `sample_weight`: n numbers of 0 or more, at least one above 0. Metrics are then weighted, and
      have the intervals of a survey where there are any. Metrics not implemented for weights are
      undefined ("scores_not_weighted").

    Raises `InvalidInput` for empty or unequal arrays, values that are not finite, undeclared
    labels, columns that do not match the classes, a positive class that is missing or not one of
    two, and unusable weights.

    >>> evaluation = evaluate_scores(y_true=[0, 0, 1, 1], y_score=[0.1, 0.4, 0.35, 0.8])
    >>> evaluation.aggregate["roc_auc"].value
    0.75
    """
    from offdiag.inputs.ids import aligned
    from offdiag.inputs.labels import encode_labels, floats_among, label_column
    from offdiag.inputs.score_columns import require_column_of
    from offdiag.inputs.score_notes import sum_notes, truth_notes
    from offdiag.inputs.scores import Scores, score_table, single_precision

    given = aligned(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
    column = label_column(given["y_true"], field="y_true")
    known = _label_set(labels, column)
    actual = encode_labels(column, known, field="y_true")
    # Notes on the names of a label set were issued when it was made.
    if not isinstance(labels, LabelSet):
        warn_of(label_notes(known.names, whole_floats=floats_among(y_true=column)))
    scores = score_table(given["y_score"], n_samples=len(actual), labels=known)
    positive = _positive_code(positive_label, known, n_columns=scores.shape[1])
    if positive is not None:
        require_column_of(given["y_score"], known, known.names[positive])
    named = None if positive is None else known.names[positive]
    warn_of(truth_notes(Scores(single_precision(scores)), actual, known, named))
    warn_of(sum_notes(scores))
    forecasts = Forecasts(actual, scores, n_classes=len(known), positive=positive)
    by_convention = positive_label is None and positive is not None
    if sample_weight is not None:
        weight = read_weights(given["sample_weight"], n_samples=len(actual))
        require_some_weight(float(weight.max()))
        return WeightedScoreEvaluation.of(
            WeightedForecasts.of(forecasts, weight),
            known,
            n_samples=len(actual),
            positive_by_convention=by_convention,
        )
    per_class = class_metrics(forecasts)
    values = {**score_metrics(forecasts), **custom.score_values(forecasts, known.names)}
    return ScoreEvaluation(
        forecasts,
        known,
        MetricTable(values, n_classes=len(known)),
        MetricTable({key: ClassValues(known, values) for key, values in per_class.items()}),
        positive_by_convention=by_convention,
    )


def _label_set(labels: LabelSet | Iterable[object] | None, y_true: object) -> LabelSet:
    if labels is not None:
        return LabelSet.declared(labels)
    from offdiag.inputs.labels import infer_labels

    found = infer_labels(("y_true", y_true))
    for pair in BOOLEAN_PAIRS:
        if set(pair).issuperset(found.names):
            return LabelSet.inferred_from(pair)
    return found


def _positive_code(positive_label: object, labels: LabelSet, *, n_columns: int) -> int | None:
    if positive_label is not None and len(labels) != 2:
        raise InvalidInput(
            f"{label_text(positive_label)!r} was named, but there are {len(labels)} classes "
            f"{labels.preview()}.",
            field="positive_label",
            hint="Leave it out: each class is evaluated against the rest.",
        )
    if n_columns != len(labels) and (n_columns != 1 or len(labels) != 2):
        raise InvalidInput(
            f"there are {n_columns} columns of scores for {len(labels)} classes "
            f"{labels.preview()}.",
            field="y_score",
            hint="Give one column for each class, and declare in labels= those that the "
            "data do not hold.",
        )
    if positive_label is None:
        positive_label = labels.conventional_positive
    if positive_label is not None:
        return labels.code_of(positive_label, field_name="positive_label")
    if n_columns < len(labels):
        raise score_of_no_class(labels)
    return None
