"""Averages over cases and over labels, for resampled cases.

Without scores every average is a function of how often each distinct pair of a true and a
predicted set occurs. A resample is therefore new counts of the pairs, and drawing those is
drawing cases. The two-by-two tables of all labels follow by products with sparse matrices.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.percentile import replicated
from offdiag.metrics.multilabel.examples import MEASURES, overlaps
from offdiag.metrics.multilabel.label_averages import LAST_LABEL_AXIS, averages_over_labels
from offdiag.metrics.multilabel.patterns import SetPatterns, has_labels, set_sizes
from offdiag.metrics.one_vs_rest import OneVsRest

Floats = NDArray[np.float64]


class SetAverages:
    """The averages of m patterns as functions of how often each one occurs."""

    def __init__(self, patterns: SetPatterns) -> None:
        from scipy import sparse

        self._patterns = patterns
        self._right = sparse.csr_array((patterns.actual & patterns.predicted).astype(np.float64))
        self._actual = sparse.csr_array(patterns.actual.astype(np.float64))
        self._predicted = sparse.csr_array(patterns.predicted.astype(np.float64))

    @cached_property
    def of_examples(self) -> dict[str, Floats]:
        """By key of an average over cases: what a case of each pattern adds, (m,)."""
        patterns = self._patterns
        wrong = set_sizes(patterns.actual ^ patterns.predicted)
        found = {"hamming_loss": wrong / patterns.n_labels}
        both_empty = ~(has_labels(patterns.actual) | has_labels(patterns.predicted))
        for measure, (above, below) in zip(MEASURES, overlaps(patterns), strict=True):
            plain = above / np.maximum(below, 1)
            found[f"example_{measure}"] = plain + both_empty
            found[f"example_{measure}_zd0"] = plain
            found[f"example_{measure}_zd1"] = plain + (below == 0)
        return found

    @property
    def n_numbers(self) -> int:
        """How many numbers are added up for one resample."""
        n_members = self._right.nnz + self._actual.nnz + self._predicted.nnz
        return int(n_members) + len(self.of_examples) * len(self._patterns.count)

    def __call__(self, counts: Floats) -> dict[str, Floats]:
        """Averages by key, each (b,), of counts (b, m); NaN where undefined."""
        n_cases = self._patterns.n_cases
        found = {
            # Einstein summation gives the same bits however many threads a machine has.
            key: np.einsum("rm,m->r", counts, share) / n_cases
            for key, share in self.of_examples.items()
        }
        right, actual, predicted = (
            np.asarray(counts @ members)
            for members in (self._right, self._actual, self._predicted)
        )
        labels = OneVsRest(
            tp=right,
            fn=actual - right,
            fp=predicted - right,
            tn=n_cases - actual - predicted + right,
        )
        averages = averages_over_labels(labels, _pooled(labels))
        return found | {key: replicated(average) for key, average in averages.items()}


def _pooled(labels: OneVsRest) -> OneVsRest:
    return OneVsRest(
        tp=labels.tp.sum(axis=LAST_LABEL_AXIS),
        fn=labels.fn.sum(axis=LAST_LABEL_AXIS),
        fp=labels.fp.sum(axis=LAST_LABEL_AXIS),
        tn=labels.tn.sum(axis=LAST_LABEL_AXIS),
    )
