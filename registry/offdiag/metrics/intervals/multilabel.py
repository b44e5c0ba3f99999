"""Intervals of all metrics of sets of labels, each by the method that suits it.

* Rates of a label and the share of sets that are exactly right take Wilson's interval.
* Averages over samples and over labels are resampled.
* Ranking metrics are means over samples and take Student's interval; the areas of a label take
  the intervals they have for classes.

Without scores every average is a function of how often each distinct pair of a true and a
predicted set occurs. A resample is therefore new counts of the pairs, and drawing those is
drawing samples. The two-by-two tables of all labels follow by products with sparse matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.extras import optional
from offdiag.metrics.arguments import confidence_level, positive_count
from offdiag.metrics.intervals import proportions
from offdiag.metrics.intervals.bounds import Interval, flagged, judged_by_classes
from offdiag.metrics.intervals.means import mean_interval, mean_loss_interval
from offdiag.metrics.intervals.proportions import WILSON, Outcomes, proportion_intervals, wilson
from offdiag.metrics.intervals.resampling import (
    affordable,
    generator,
    percentile_intervals,
    replicated,
    resampled_samples,
    row_bootstrap_name,
)
from offdiag.metrics.intervals.scores import class_interval
from offdiag.metrics.multilabel.examples import MEASURES, RULES, Overlap
from offdiag.metrics.multilabel.label_averages import averages_of_hits
from offdiag.metrics.multilabel.ranking import rank_samples
from offdiag.metrics.multilabel.sets import (
    LABEL_AXIS,
    SetPatterns,
    distinct_patterns,
)
from offdiag.metrics.multilabel.tally import LabelCounts, count_labels
from offdiag.metrics.scores.losses import Moments
from offdiag.metrics.scores.ranking import rank_scores

Floats = NDArray[np.float64]


class SetAverages:
    """The averages of m patterns as functions of how often each one occurs."""

    def __init__(self, patterns: SetPatterns) -> None:
        with optional:
            from scipy import sparse

        self._patterns = patterns
        self._right = sparse.csr_array((patterns.actual & patterns.predicted).astype(np.float64))
        self._actual = sparse.csr_array(patterns.actual.astype(np.float64))
        self._predicted = sparse.csr_array(patterns.predicted.astype(np.float64))

    @cached_property
    def of_examples(self) -> dict[str, Floats]:
        """By key of an average over cases: what a sample of each pattern adds, (m,)."""
        overlap = Overlap.of(self._patterns.actual, self._patterns.predicted)
        of_measures = (f"example_{measure}{rule}" for measure in MEASURES for rule in RULES)
        return {key: overlap.values(key) for key in ("hamming_loss", *of_measures)}

    @property
    def n_numbers(self) -> int:
        """How many numbers are added up for one resample."""
        n_members = self._right.nnz + self._actual.nnz + self._predicted.nnz
        return int(n_members) + len(self.of_examples) * len(self._patterns.count)

    def __call__(self, counts: Floats) -> dict[str, Floats]:
        """Averages by key, each (b,), of counts (b, m); NaN where undefined."""
        n_samples = self._patterns.n_samples
        found = {
            # Einstein summation gives the same bits however many threads a machine has.
            key: np.einsum("rm,m->r", counts, share) / n_samples
            for key, share in self.of_examples.items()
        }
        right, actual, predicted = (
            np.asarray(counts @ members)
            for members in (self._right, self._actual, self._predicted)
        )
        averages = averages_of_hits(right, actual, predicted, n_samples)
        return found | {key: replicated(average) for key, average in averages.items()}


@dataclass(frozen=True)
class MultilabelIntervals:
    """Intervals by key: one of each aggregate, q in label order of each per-label metric.

    A key is missing if no interval is offered for it. `seed` repeats the resampling.
    """

    aggregate: Mapping[str, Interval]
    per_label: Mapping[str, list[Interval]]
    confidence: float
    seed: int
    replicates: int


def multilabel_intervals(
    actual: NDArray[np.bool_],
    predicted: NDArray[np.bool_],
    scores: NDArray[Any] | None = None,
    *,
    seed: int,
    confidence: float = 0.95,
    replicates: int = 2_000,
) -> MultilabelIntervals:
    """Intervals of the metrics of two (n, q) indicator arrays, and of (n, q) scores.

    `replicates` is the most resamples taken: with many samples fewer are, at least 200, and the
    method says how many. The same arguments give the same bits. Notes say "unreliable" where
    the smallest label that is ever true has fewer than 20 samples. Averages over labels have no
    ends where a label has fewer than 5.

    Raises `InvalidInput` for a confidence outside (0, 1) or no replicates.
    """
    level = confidence_level(confidence)
    wanted = positive_count(replicates, field="replicates")
    counts = count_labels(actual, predicted)
    per_label = _rates(counts, confidence=level)
    if counts.n_samples == 0:
        return MultilabelIntervals({}, per_label, level, seed, 0)
    patterns = distinct_patterns(actual, predicted)
    averages = SetAverages(patterns)
    taken = affordable(wanted, patterns.count, n_numbers=averages.n_numbers)
    aggregate = {"subset_accuracy": _exact_matches(patterns, confidence=level)}
    aggregate |= _resampled(averages, patterns, counts, seed=seed, level=level, replicates=taken)
    if scores is not None:
        aggregate |= _rankings(actual, scores, confidence=level)
        per_label |= _areas(actual, scores, confidence=level)
    return MultilabelIntervals(aggregate, per_label, level, seed, taken)


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


def _resampled(
    averages: SetAverages,
    patterns: SetPatterns,
    counts: LabelCounts,
    *,
    seed: int,
    level: float,
    replicates: int,
) -> dict[str, Interval]:
    estimates = averages(patterns.count[np.newaxis].astype(np.float64))
    values = {key: np.empty(replicates) for key in estimates}
    rng = generator(seed)
    for part, drawn in resampled_samples(patterns.count, replicates=replicates, rng=rng):
        for key, found in averages(drawn).items():
            values[key][part] = found
    method = row_bootstrap_name(replicates)
    support = counts.actual[counts.actual > 0]
    smallest = np.asarray(support.min(initial=counts.n_samples))
    intervals = {}
    for key, estimate in estimates.items():
        found_intervals = percentile_intervals(
            values[key], estimate=estimate[0], confidence=level, method=method
        )
        judged = (
            judged_by_classes(found_intervals, counts.actual, None, is_average=True, what="label")
            if key.startswith("macro_")
            else flagged(found_intervals, smallest, "smallest label")
        )
        intervals[key] = judged.at()
    return intervals


def _rankings(
    actual: NDArray[np.bool_], scores: NDArray[Any], *, confidence: float
) -> dict[str, Interval]:
    found = rank_samples(actual, scores)
    n_labels = float(actual.shape[LABEL_AXIS])
    return {
        "coverage_error": mean_interval(
            found.coverage, low=0.0, high=n_labels, confidence=confidence
        ),
        "label_ranking_loss": mean_loss_interval(
            Moments.of(found.loss), largest=1.0, confidence=confidence
        ),
        "label_ranking_average_precision": mean_interval(
            found.average_precision, low=0.0, high=1.0, confidence=confidence
        ),
    }


def _areas(
    actual: NDArray[np.bool_], scores: NDArray[Any], *, confidence: float
) -> dict[str, list[Interval]]:
    by_label = [
        class_interval(rank_scores(actual[:, code], scores[:, code]), confidence=confidence)
        for code in range(actual.shape[LABEL_AXIS])
    ]
    return {key: [found[key] for found in by_label] for key in ("roc_auc", "average_precision")}
