"""DeLong's test: do two scores rank the same cases equally well?"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt

from numpy.typing import ArrayLike

from offdiag.domain.values import Reason
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import finite_vector, zero_one
from offdiag.metrics.intervals.auc import placements, variance_of_mean_placement
from offdiag.metrics.intervals.proportions import normal_quantile


@dataclass(frozen=True, slots=True)
class DeLong:
    """Result of DeLong's test of two correlated areas under the ROC curve.

    `difference` is `auc_b` - `auc_a`, `standard_error` its estimated standard deviation and
    `z` their quotient, so a positive z is in favour of b. What cannot be had is None, with
    the reason.
    """

    auc_a: float | None
    auc_b: float | None
    difference: float | None
    standard_error: float | None
    z: float | None
    p: float | None
    reason: str | None

    def interval(self, confidence: float = 0.95) -> tuple[float | None, float | None]:
        """Normal interval of the difference, cut at -1 and 1; (None, None) without z."""
        if self.z is None or self.difference is None or self.standard_error is None:
            return None, None
        reach = normal_quantile(confidence) * self.standard_error
        return max(-1.0, self.difference - reach), min(1.0, self.difference + reach)


def delong(y_true: ArrayLike, score_a: ArrayLike, score_b: ArrayLike) -> DeLong:
    """Compare the areas of two scores of the same n cases; higher scores mean positive.

    `y_true` holds 0 and 1 (or booleans), the scores any finite numbers, all of shape (n,).
    The variance of the difference has denominators m - 1 and n - 1 (DeLong, DeLong and
    Clarke-Pearson 1988, Biometrics 44, 837). `p` is two-sided. The areas are undefined
    without cases of both classes. `z` is undefined with a single case of a class (the
    variance is 0/0), and with zero variance, as for two scores that rank the cases alike.

    Raises `InvalidInput` for unequal lengths, other labels, and scores that are not finite.
    """
    is_positive = zero_one(
        y_true, field="y_true", hint="Give 1 for the positive class and 0 for the other."
    )
    first = finite_vector(score_a, field="score_a")
    second = finite_vector(score_b, field="score_b")
    for field, scores in (("score_a", first), ("score_b", second)):
        if scores.shape != is_positive.shape:
            raise InvalidInput(
                f"its shape is {scores.shape}, that of y_true {is_positive.shape}.",
                field=field,
                hint="Give one score for each case.",
            )
    n_positive = int(is_positive.sum())
    if n_positive == 0:
        return _no_test(Reason.NO_ACTUAL_POSITIVES if len(first) else Reason.NO_CASES)
    if n_positive == len(is_positive):
        return _no_test(Reason.NO_ACTUAL_NEGATIVES)
    a, b = placements(is_positive, first), placements(is_positive, second)
    areas = a.area, b.area
    difference = b.area - a.area
    variance = variance_of_mean_placement(
        b.of_positives - a.of_positives, b.of_negatives - a.of_negatives
    )
    if variance is None:
        return DeLong(*areas, difference, None, None, None, Reason.ZERO_OVER_ZERO.value)
    if variance == 0:
        return DeLong(*areas, difference, 0.0, None, None, Reason.ZERO_VARIANCE.value)
    z = difference / sqrt(variance)
    return DeLong(*areas, difference, sqrt(variance), z, erfc(abs(z) / sqrt(2)), None)


def _no_test(reason: Reason) -> DeLong:
    return DeLong(None, None, None, None, None, None, reason.value)
