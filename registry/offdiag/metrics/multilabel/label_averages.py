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
from offdiag.metrics.multilabel.tally import LabelCounts
from offdiag.metrics.one_vs_rest import OneVsRest
from offdiag.metrics.per_class import PER_CLASS
from offdiag.metrics.quantity import Quantity, as_float, defined, quotient

AVERAGED = ("precision", "recall", "f1", "jaccard")


LAST_LABEL_AXIS = -1
"""Axis along which the label changes in the tables of one or of many evaluations."""


def label_averages(counts: LabelCounts) -> Mapping[str, MetricValue]:
    """All averages of `AVERAGED` by key."""
    averages = averages_over_labels(counts.one_vs_rest(), counts.pooled())
    if counts.n_cases == 0:
        return {key: MetricValue(None, Reason.NO_CASES.value) for key in averages}
    return {key: average.at() for key, average in averages.items()}


def averages_over_labels(labels: OneVsRest, pooled: OneVsRest) -> dict[str, Quantity]:
    """The averages of tables that hold cases, quantities of shape (...).

    `labels` has cells of shape (..., q), `pooled` those of all labels added up, (...).
    """
    averages = {}
    for key in AVERAGED:
        values = PER_CLASS[key](labels)
        averages[f"micro_{key}"] = PER_CLASS[key](pooled)
        averages[f"macro_{key}"] = defined(values.or_zero().mean(axis=LAST_LABEL_AXIS))
        averages[f"macro_{key}_defined"] = _mean_of_defined(values)
        averages[f"weighted_{key}"] = _weighted(values, as_float(labels.positives))
    return averages


def _mean_of_defined(values: Quantity) -> Quantity:
    n_defined = np.count_nonzero(values.is_defined, axis=LAST_LABEL_AXIS)
    total = values.or_zero().sum(axis=LAST_LABEL_AXIS)
    return quotient(total, np.asarray(n_defined), Reason.CLASS_VALUE_UNDEFINED)


def _weighted(values: Quantity, support: NDArray[np.float64]) -> Quantity:
    weighted_sum = (support * values.or_zero()).sum(axis=LAST_LABEL_AXIS)
    total = support.sum(axis=LAST_LABEL_AXIS)
    return quotient(weighted_sum, np.asarray(total), Reason.NO_ACTUAL_POSITIVES)
