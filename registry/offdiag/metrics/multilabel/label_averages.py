"""Averages over labels of the two-by-two tables: micro, macro and weighted.

Equations (7)-(10) of Krstinic et al. (2020). `micro_x` pools the tables of all labels;
`macro_x` is the mean over all q labels, an undefined label value counting as 0;
`macro_x_defined` the mean over the labels where x is defined; `weighted_x` weights labels by
their support, an undefined value counting as 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.multilabel.label_counts import LabelCounts
from offdiag.metrics.per_class import PER_CLASS
from offdiag.metrics.quantity import Quantity, as_float, quotient

AVERAGED = ("precision", "recall", "f1", "jaccard")


def label_averages(counts: LabelCounts) -> Mapping[str, MetricValue]:
    """All averages of `AVERAGED` by key."""
    labels, pooled = counts.one_vs_rest(), counts.pooled()
    averages = {}
    for key in AVERAGED:
        values = PER_CLASS[key](labels)
        averages[f"micro_{key}"] = PER_CLASS[key](pooled)
        averages[f"macro_{key}"] = _macro(values, n_cases=counts.n_cases)
        averages[f"macro_{key}_defined"] = _macro_defined(values)
        averages[f"weighted_{key}"] = _weighted(values, counts.actual)
    if counts.n_cases == 0:
        return {key: MetricValue(None, Reason.NO_CASES.value) for key in averages}
    return {key: average.at() for key, average in averages.items()}


def _macro(values: Quantity, *, n_cases: int) -> Quantity:
    n_labels = len(values.value) if n_cases else 0
    return quotient(values.or_zero().sum(), np.asarray(n_labels), Reason.NO_CASES)


def _macro_defined(values: Quantity) -> Quantity:
    n_defined = np.asarray(np.count_nonzero(values.is_defined))
    return quotient(values.or_zero().sum(), n_defined, Reason.CLASS_VALUE_UNDEFINED)


def _weighted(values: Quantity, support: NDArray[np.int64]) -> Quantity:
    weighted_sum = (as_float(support) * values.or_zero()).sum()
    return quotient(weighted_sum, np.asarray(support.sum()), Reason.NO_ACTUAL_POSITIVES)
