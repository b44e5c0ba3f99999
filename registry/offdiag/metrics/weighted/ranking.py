"""Scores of weighted samples of an event in ascending order, and their ranking metrics.

Equal scores form one group, as without weights. Values come from sums of weights. Samples are
treated as independent draws, so the variance of a value is the sum of squares of how far each
sample moves it: its weight times its slope.

The slopes of an area are its placements (DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44,
837): for a positive sample the share of the weight of the negative ones that it beats, for a
negative one the share of the positive ones that beat it. The effective size of a class is the
number of equal samples whose mean placement has the same variance, as Korn and Graubard (1998,
Survey Methodology 24, 193) define it for proportions. Newcombe's interval is computed with these
sizes, so it has ends where classes are separated perfectly, and for equal weights it is that of
counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.intervals.bounds import Interval, size_warning
from offdiag.metrics.intervals.discrimination import NEWCOMBE, SLOPES_OF_PRECISION, area_bounds
from offdiag.metrics.intervals.means import logit_interval, student_quantile
from offdiag.metrics.scores.ranking import undefined_if_one_sided
from offdiag.metrics.weighted.counts import Floats, kish, whole_sizes

OF_EFFECTIVE_SIZES = f"{NEWCOMBE}, effective sizes"
OF_WEIGHTS = "no interval of weighted examples"
_SMALLEST_SPREAD = 1e-24
"""Placements lie between 0 and 1; squares of a mean deviation below this are rounding."""


@dataclass(frozen=True, eq=False)
class WeightedRanking:
    """V distinct scores, ascending; sums over their samples, float64 of shape (V,).

    `positive` and `negative` add weights, `positive_squares` and `negative_squares` their
    squares. `n_positive` and `n_negative` are numbers of samples. All weights are above 0.
    """

    values: NDArray[Any]
    positive: Floats
    negative: Floats
    positive_squares: Floats
    negative_squares: Floats
    n_positive: int
    n_negative: int

    @cached_property
    def above(self) -> tuple[Floats, Floats]:
        """Positive and negative weight at or above each score, (V,)."""
        return _from_above(self.positive), _from_above(self.negative)

    @cached_property
    def totals(self) -> tuple[float, float]:
        """Total positive and total negative weight."""
        hits, false_alarms = self.above
        return float(hits[:1].sum()), float(false_alarms[:1].sum())

    @property
    def thresholds(self) -> Floats:
        """One above the largest score, then the distinct scores descending; (V + 1,)."""
        highest = self.values[-1:]
        with np.errstate(over="ignore"):  # Above the largest finite number there is infinity.
            above_all = np.nextafter(highest, highest.dtype.type(np.inf))
        return np.append(above_all, self.values[::-1]).astype(np.float64)

    @property
    def true_positives(self) -> Floats:
        """Positive weight with at least the score, for each of `thresholds`; (V + 1,)."""
        return np.append(0.0, self.above[0][::-1])

    @property
    def false_positives(self) -> Floats:
        """Negative weight with at least the score, for each of `thresholds`; (V + 1,)."""
        return np.append(0.0, self.above[1][::-1])

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Kish's effective sizes of positive and negative samples."""
        of_positives = kish(_total(self.positive), _total(self.positive_squares))
        of_negatives = kish(_total(self.negative), _total(self.negative_squares))
        return float(of_positives), float(of_negatives)

    @property
    def smaller(self) -> int:
        """The smaller effective size in whole samples, rounded down."""
        return int(whole_sizes(np.asarray(min(self.sizes))))

    @cached_property
    def placements(self) -> tuple[Floats, Floats]:
        """Placements of positive and negative samples with each score, (V,); both have weight."""
        of_positives, of_negatives = self.totals
        hits, false_alarms = self.above
        beaten = of_negatives - false_alarms + self.negative / 2
        beating = hits - self.positive / 2
        return beaten / of_negatives, beating / of_positives

    @cached_property
    def area(self) -> float:
        """The area under the ROC curve, in [0, 1]; both kinds of samples have weight."""
        beaten, _ = self.placements
        return min(float((self.positive * beaten).sum()) / self.totals[0], 1.0)

    @cached_property
    def placement_sizes(self) -> tuple[float, float]:
        """The numbers of equal samples whose mean placements have the same variance, 1 or more."""
        beaten, beating = self.placements
        return (
            _size(beaten - self.area, self.positive, self.positive_squares, self.n_positive),
            _size(beating - self.area, self.negative, self.negative_squares, self.n_negative),
        )

    @cached_property
    def precision(self) -> Floats:
        """Share of the positive weight at or above each score, (V,)."""
        hits, false_alarms = self.above
        return np.asarray(hits / (hits + false_alarms))

    @cached_property
    def average_precision(self) -> float:
        """The average precision; at least one sample must be positive."""
        return min(float((self.positive * self.precision).sum()) / self.totals[0], 1.0)

    @property
    def average_precision_variance(self) -> float:
        """First-order variance, by the slopes of `average_precision_variance` for counts."""
        hits, false_alarms = self.above
        gained = self.positive / (hits + false_alarms)
        hits_up_to = np.cumsum(gained)
        reports_up_to = np.cumsum(gained * self.precision)
        at_positives = self.precision - self.average_precision + hits_up_to - reports_up_to
        squares = self.positive_squares * at_positives**2
        squares += self.negative_squares * reports_up_to**2
        return float(squares.sum()) / self.totals[0] ** 2


def rank_weighted(
    is_positive: NDArray[np.bool_], scores: NDArray[Any], weight: Floats
) -> WeightedRanking:
    """Group finite scores, all arrays of shape (n,); weights are above 0."""
    # Adding 0 makes -0.0 and 0.0 one score.
    values, place = np.unique(scores + 0, return_inverse=True)
    cell = 2 * place.reshape(-1) + is_positive

    def added(of: Floats) -> tuple[Floats, Floats]:
        table = np.bincount(cell, of, minlength=2 * len(values)).astype(np.float64)
        return table[1::2], table[::2]

    positive, negative = added(weight)
    positive_squares, negative_squares = added(np.square(weight))
    n_positive = int(np.count_nonzero(is_positive))
    return WeightedRanking(
        values,
        positive,
        negative,
        positive_squares,
        negative_squares,
        n_positive,
        len(weight) - n_positive,
    )


def ranking_metrics(ranked: WeightedRanking, *, confidence: float) -> dict[str, MetricValue]:
    """`roc_auc` and `average_precision` of one class against the rest, with intervals."""
    return {
        "roc_auc": undefined_if_one_sided(ranked) or _area(ranked, confidence),
        "average_precision": _average_precision(ranked, confidence),
    }


def weighted_ks(ranked: WeightedRanking) -> MetricValue:
    """Largest gap between the weighted score distributions of both kinds of samples; 0 to 1."""
    undefined = undefined_if_one_sided(ranked)
    if undefined is not None:
        return undefined
    shares = [above / total for above, total in zip(ranked.above, ranked.totals, strict=True)]
    gap = float(np.abs(shares[0] - shares[1]).max())
    return Interval(None, None, OF_WEIGHTS).around(MetricValue(min(gap, 1.0)))


def _area(ranked: WeightedRanking, confidence: float) -> MetricValue:
    note, has_ends = size_warning(ranked.smaller, "smaller class")
    low = high = None
    if has_ends:
        low, high = area_bounds(ranked.area, *ranked.placement_sizes, confidence=confidence)
    return Interval(low, high, OF_EFFECTIVE_SIZES, note=note).around(MetricValue(ranked.area))


def _average_precision(ranked: WeightedRanking, confidence: float) -> MetricValue:
    if ranked.n_positive == 0:
        return MetricValue(None, Reason.NO_ACTUAL_POSITIVES.value)
    value = ranked.average_precision
    return logit_interval(
        value,
        ranked.average_precision_variance,
        method=SLOPES_OF_PRECISION,
        quantile=student_quantile(confidence, freedom=max(ranked.sizes[0] - 1, 1)),
        n_smallest=ranked.smaller,
        smallest="smaller class",
    ).around(MetricValue(value))


def _size(deviation: Floats, weight: Floats, squares: Floats, n_samples: int) -> float:
    """Variance of equal samples divided by that of the weighted mean, at most `n_samples`."""
    total = _total(weight)
    spread = float((squares * deviation**2).sum())
    if spread <= _SMALLEST_SPREAD * float(squares.sum()):
        size = float(kish(total, _total(squares)))
    else:
        size = float((weight * deviation**2).sum()) / spread * float(total)
    return min(max(size, 1.0), float(n_samples))


def _from_above(values: Floats) -> Floats:
    return np.cumsum(values[::-1])[::-1]


def _total(values: Floats) -> Floats:
    return np.asarray(values.sum())
