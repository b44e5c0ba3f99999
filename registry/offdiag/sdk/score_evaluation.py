"""What an evaluation of scores looks like to the person who asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue, Reason
from offdiag.errors import InvalidInput
from offdiag.metrics.scores import curves
from offdiag.metrics.scores.calibration import DEFAULT_BINS, equal_width_bins
from offdiag.metrics.scores.curves import Curve, CurveKind, cost_curve, no_curve
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.ranked import rank_scores
from offdiag.metrics.scores.suite import ranked_against_rest, ranked_top_label
from offdiag.sdk.evaluation import ClassValues, MetricTable


@dataclass(frozen=True)
class ScoreEvaluation:
    """Every metric of a set of scores, and its curves on request.

    `aggregate[key]` is one `MetricValue`; `per_class[key][label]` that of a class against the
    rest. Curves are about one class against the rest, the positive one unless named.
    """

    forecasts: Forecasts
    label_set: LabelSet
    aggregate: MetricTable[MetricValue]
    per_class: MetricTable[ClassValues]
    positive_by_convention: bool = False
    """Whether nobody named the positive class: labels such as 0 and 1 have one."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Class names in the order of the score columns."""
        return self.label_set.names

    @property
    def positive_label(self) -> str | None:
        """The positive class, None where there is none."""
        code = self.forecasts.positive
        return None if code is None else self.labels[code]

    def roc_curve(self, label: object = None) -> Curve:
        """True over false positive rate at every threshold."""
        return curves.roc_curve(ranked_against_rest(self.forecasts, self._code(label)))

    def precision_recall_curve(self, label: object = None) -> Curve:
        """Precision over recall at every threshold."""
        ranked = ranked_against_rest(self.forecasts, self._code(label))
        return curves.precision_recall_curve(ranked)

    def cost_curve(self, label: object = None) -> Curve:
        """Normalised expected cost of the best threshold over PC(+)."""
        return cost_curve(ranked_against_rest(self.forecasts, self._code(label)))

    def reliability_curve(self, label: object = None, *, n_bins: int = DEFAULT_BINS) -> Curve:
        """Observed share over mean probability of a class, in bins of equal width."""
        code = self._code(label)
        if not self.forecasts.are_probabilities:
            return _no_probabilities()
        forecasts = self.forecasts
        ranked = rank_scores(forecasts.actual == code, forecasts.table[:, code])
        return curves.reliability_curve(equal_width_bins(ranked, n_bins=n_bins))

    def top_label_reliability_curve(self, *, n_bins: int = DEFAULT_BINS) -> Curve:
        """Share of right answers over the largest probability, in bins of equal width."""
        if not self.forecasts.are_probabilities:
            return _no_probabilities()
        ranked = ranked_top_label(self.forecasts)
        return curves.reliability_curve(equal_width_bins(ranked, n_bins=n_bins))

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "labels": list(self.labels),
            "positive_label": self.positive_label,
            "positive_by_convention": self.positive_by_convention,
            "n_cases": self.forecasts.n_cases,
            "aggregate": {key: value.to_dict() for key, value in self.aggregate.items()},
            "per_class": {
                key: [value.to_dict() for value in values.values()]
                for key, values in self.per_class.items()
            },
        }

    def _repr_html_(self) -> str:
        from offdiag.sdk.metric_html import metric_table

        caption = f"Scores of {self.forecasts.n_cases} cases"
        if self.positive_label is not None:
            caption += f", positive class {self.positive_label}"
            caption += " by convention" if self.positive_by_convention else ""
        return metric_table(caption, self.aggregate)

    def _code(self, label: object) -> int:
        if label is not None:
            return self.label_set.code_of(label)
        if self.forecasts.positive is None:
            raise InvalidInput(
                f"no class of {self.label_set.preview()} is the positive one.",
                field="label",
                hint="Name the class the curve is about.",
            )
        return self.forecasts.positive


def _no_probabilities() -> Curve:
    return no_curve(
        CurveKind.RELIABILITY, "mean_score", "observed_share", Reason.SCORES_NOT_PROBABILITIES
    )
