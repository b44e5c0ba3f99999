"""Intervals of all metrics of label sets, each by the method that suits it.

* Rates of a label and the share of exactly matching sets use Wilson's interval.
* Averages over samples and over labels, and ranking metrics in [0, 1], use Wilson's interval with
  an effective size: the number of equal samples whose share has the same variance, reduced by
  Student's t because the variance is estimated (Korn and Graubard 1998, Survey Methodology 24,
  193; Dean and Pagano 2015, J. Survey Statistics and Methodology 3, 484). A sample is what surveys
  call a cluster: its decisions on labels are correlated. Its share of the variance of an average
  over labels is what it adds to the average to first order. Resamples only contain errors that
  the samples have: with few errors they covered the truth in 50 to 88 % of simulated datasets.
* Coverage errors are means over samples and use Student's interval; the areas of a label use the
  same intervals as those of a class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.extras import optional
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.intervals import proportions
from offdiag.metrics.intervals.bounds import (
    SMALLEST_WITH_ENDS,
    Bounds,
    Interval,
    Intervals,
    flagged,
    judged_by_classes,
)
from offdiag.metrics.intervals.means import mean_interval, student_quantile
from offdiag.metrics.intervals.proportions import (
    WILSON,
    Outcomes,
    normal_quantile,
    proportion_intervals,
    wilson,
    wilson_of_sizes,
)
from offdiag.metrics.intervals.scores import class_interval
from offdiag.metrics.multilabel.examples import MEASURES, RULES, Overlap
from offdiag.metrics.multilabel.label_averages import averages_of_hits, depends_on_rare_labels
from offdiag.metrics.multilabel.ranking import rank_samples
from offdiag.metrics.multilabel.sets import LABEL_AXIS, SetPatterns, distinct_patterns
from offdiag.metrics.multilabel.tally import LabelCounts, count_labels
from offdiag.metrics.scores.ranking import rank_scores

Floats = NDArray[np.float64]

EFFECTIVE = "wilson, effective size, student t"
OF_EXAMPLES = (
    "hamming_loss",
    *(f"example_{measure}{rule}" for measure in MEASURES for rule in RULES),
)
"""Averages over samples that are not counts of them."""
MOST_RARE = 0.1
"""Share of the true labels that belong to labels with fewer than five samples, above which only
recall, where labels do not matter, has ends as a weighted average: others covered 75 to 88 %.
"""
ROUNDING = 1e-12
"""Amounts below this are zeros blurred by rounding."""


@dataclass(frozen=True)
class MultilabelIntervals:
    """Intervals by key: one of each aggregate, q in label order of each per-label metric.

    A key is missing if no interval is offered for it.
    """

    aggregate: Mapping[str, Interval]
    per_label: Mapping[str, list[Interval]]
    confidence: float


def multilabel_intervals(
    actual: NDArray[np.bool_],
    predicted: NDArray[np.bool_],
    scores: NDArray[Any] | None = None,
    *,
    confidence: float = 0.95,
) -> MultilabelIntervals:
    """Intervals of the metrics of two (n, q) indicator arrays, and of (n, q) scores.

    Notes say "unreliable" for averages over labels if the smallest label that is ever true has
    fewer than 20 samples, and for other metrics below 20 samples. Macro averages have no ends if
    a label has fewer than 5, weighted ones if such labels have more than a tenth of the weight.

    Raises `InvalidInput` for a confidence outside (0, 1).
    """
    level = confidence_level(confidence)
    counts = count_labels(actual, predicted)
    per_label = _rates(counts, confidence=level)
    if counts.n_samples == 0:
        return MultilabelIntervals({}, per_label, level)
    patterns = distinct_patterns(actual, predicted)
    aggregate = {"subset_accuracy": _exact_matches(patterns, confidence=level)}
    overlap = Overlap.of(patterns.actual, patterns.predicted)
    for key in OF_EXAMPLES:
        aggregate[key] = mean_share_interval(overlap.values(key), patterns.count, confidence=level)
    aggregate |= _of_labels(patterns, counts, confidence=level)
    if scores is not None:
        aggregate |= _rankings(actual, scores, confidence=level)
        by_label = [
            class_interval(rank_scores(actual[:, code], scores[:, code]), confidence=level)
            for code in range(actual.shape[LABEL_AXIS])
        ]
        per_label |= {
            key: [found[key] for found in by_label] for key in ("roc_auc", "average_precision")
        }
    return MultilabelIntervals(aggregate, per_label, level)


def _rates(counts: LabelCounts, *, confidence: float) -> dict[str, list[Interval]]:
    outcomes = Outcomes(counts.true_positives, counts.actual, counts.predicted, counts.n_samples)
    found = proportion_intervals(outcomes, proportions.PER_CLASS, confidence=confidence)
    return {
        key: [intervals.at(code) for code in range(outcomes.n_classes)]
        for key, intervals in found.items()
    }


def _exact_matches(patterns: SetPatterns, *, confidence: float) -> Interval:
    is_right = (patterns.actual == patterns.predicted).all(axis=LABEL_AXIS)
    hits = patterns.count[is_right].sum()
    return Interval(*wilson(hits, patterns.n_samples, confidence=confidence).at(), WILSON)


@dataclass(frozen=True)
class Share:
    """An average in [0, 1] over n samples of m kinds, `count` (m,) of each.

    `added` (m,) is n times the first-order contribution of a sample of each kind, less the
    average. `unvaried` is the effective size to use where all samples contribute the same,
    because the variance then says nothing.
    """

    value: float
    added: Floats
    count: NDArray[np.int64]
    unvaried: float

    @classmethod
    def mean(cls, values: Floats, count: NDArray[np.int64]) -> Share:
        n_samples = int(count.sum())
        mean = min(_sum(values, count) / n_samples, 1.0)
        return cls(mean, values - mean, count, n_samples)

    def interval(self, *, confidence: float) -> Intervals:
        """Wilson's interval with the effective size; no ends for a single sample."""
        n_samples = int(self.count.sum())
        if n_samples < 2:
            nothing = np.asarray(np.nan)
            return Intervals(Bounds(nothing, nothing), EFFECTIVE, {(): "a single example"})
        added = np.where(np.abs(self.added) > ROUNDING, self.added, 0.0)
        variance = _sum(added**2, self.count) / n_samples / (n_samples - 1)
        size = self.unvaried
        if variance > 0 and 0 < self.value < 1:
            size = self.value * (1 - self.value) / variance
        student = student_quantile(confidence, freedom=n_samples - 1)
        size *= (normal_quantile(confidence) / student) ** 2
        return Intervals(
            wilson_of_sizes(self.value * size, size, confidence=confidence), EFFECTIVE
        )


def _sum(values: Floats, count: NDArray[np.int64]) -> float:
    # Einstein summation gives the same bits however many threads a machine has.
    return float(np.einsum("m,m->", values, count))


def mean_share_interval(
    values: Floats, count: NDArray[np.int64], *, confidence: float
) -> Interval:
    """Interval of the mean of m values in [0, 1], each occurring as often as `count` says."""
    found = Share.mean(values, count).interval(confidence=confidence)
    return flagged(found, np.asarray(count.sum()), "dataset").at()


OF_LABEL: Mapping[str, tuple[tuple[int, int, int], tuple[int, int, int]]] = {
    "precision": ((1, 0, 0), (0, 0, 1)),
    "recall": ((1, 0, 0), (0, 1, 0)),
    "f1": ((2, 0, 0), (0, 1, 1)),
    "jaccard": ((1, 0, 0), (-1, 1, 1)),
}
"""Numerator and denominator of a measure, from hits, true and predicted samples of a label."""


class Shares:
    """The averages over labels, from m patterns of sets."""

    def __init__(self, patterns: SetPatterns) -> None:
        with optional:
            from scipy import sparse

        members = patterns.actual & patterns.predicted, patterns.actual, patterns.predicted
        self._members = [sparse.csr_array(each.astype(np.float64)) for each in members]
        self._n_samples = patterns.n_samples
        self._count = patterns.count
        self._totals = np.stack([patterns.count @ each for each in self._members])

    def found(self) -> Iterator[tuple[str, Share | None]]:
        """Averages by key, None where undefined."""
        right, actual, predicted = self._totals
        averages = averages_of_hits(right, actual, predicted, self._n_samples)
        for key, average in averages.items():
            value = average.at().value
            yield key, None if value is None else self._share(key, value)

    def _share(self, key: str, value: float) -> Share:
        average, _, measure = key.removesuffix("_defined").partition("_")
        above, below = (np.array(each, np.float64) for each in OF_LABEL[measure])
        hits, of = above @ self._totals, below @ self._totals
        actual = self._totals[1]
        if average == "micro":
            of = np.full(len(of), of.sum())
            share, weight = np.full(len(of), value), np.ones(len(of))
        else:
            share = np.divide(hits, of, out=np.zeros_like(hits), where=of > 0)
            is_counted = of > 0 if key.endswith("_defined") else np.ones(len(of), np.bool_)
            weight = is_counted / np.count_nonzero(is_counted)
            if average == "weighted":
                weight = actual / actual.sum()
        per_sample = self._n_samples * np.divide(weight, of, out=np.zeros_like(of), where=of > 0)
        slopes = per_sample * (above[:, np.newaxis] - share * below[:, np.newaxis])
        if average == "weighted":
            slopes[1] += self._n_samples / actual.sum() * (share - value)
        added = self._sum_of(slopes)
        if average == "macro":
            unvaried = 1 / float((weight / np.maximum(of, 1)).sum())
        else:
            unit = below if average == "micro" else np.array([0.0, 1.0, 0.0])
            parts = self._sum_of(np.broadcast_to(unit[:, np.newaxis], slopes.shape))
            unvaried = _sum(parts, self._count) ** 2 / _sum(parts**2, self._count)
        return Share(value, added, self._count, unvaried)

    def _sum_of(self, slopes: Floats) -> Floats:
        """The total contribution of the labels of each pattern, (m,), from slopes (3, q)."""
        parts = [each @ slope for each, slope in zip(self._members, slopes, strict=True)]
        return np.asarray(sum(parts))


def _of_labels(
    patterns: SetPatterns, counts: LabelCounts, *, confidence: float
) -> dict[str, Interval]:
    support = counts.actual[counts.actual > 0]
    smallest = np.asarray(support.min(initial=counts.n_samples))
    rare = support[support < SMALLEST_WITH_ENDS].sum() / max(float(support.sum()), 1.0)
    rare_note = (
        f"unreliable, labels with fewer than {SMALLEST_WITH_ENDS} examples have "
        f"{100 * rare:.0f} % of the weight"
    )
    intervals = {}
    for key, found in Shares(patterns).found():
        if found is None:
            intervals[key] = Interval(None, None, EFFECTIVE)
            continue
        if rare > MOST_RARE and depends_on_rare_labels(key):
            intervals[key] = Interval(None, None, EFFECTIVE, note=rare_note)
            continue
        interval = found.interval(confidence=confidence)
        judged = (
            judged_by_classes(interval, counts.actual, None, what="label")
            if key.startswith("macro_")
            else flagged(interval, smallest, "smallest label")
        )
        intervals[key] = judged.at()
    return intervals


def _rankings(
    actual: NDArray[np.bool_], scores: NDArray[Any], *, confidence: float
) -> dict[str, Interval]:
    found = rank_samples(actual, scores)
    n_samples, n_labels = actual.shape
    once = np.ones(n_samples, np.int64)
    return {
        "coverage_error": mean_interval(
            found.coverage, low=0.0, high=float(n_labels), confidence=confidence
        ),
        "label_ranking_loss": mean_share_interval(found.loss, once, confidence=confidence),
        "label_ranking_average_precision": mean_share_interval(
            found.average_precision, once, confidence=confidence
        ),
    }
