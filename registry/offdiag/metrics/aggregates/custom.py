"""Declared functions of a confusion matrix as aggregates.

They are called once for each matrix of a stack. Slopes, needed to test several runs, are
differences between the values at a slightly larger and a slightly smaller cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.aggregates.classified import AggregateMetric, Classified
from offdiag.metrics.custom import FAILED, CustomMetric, MatrixInput, custom_metrics
from offdiag.metrics.gradients import Cells, Codes, Floats, Gradient
from offdiag.metrics.quantity import Quantity, cause, first_cause
from offdiag.metrics.spec import OF_CELLS

_INTERVAL = f"{OF_CELLS} None above 2,500 occupied cells."


def over_stack(metric: CustomMetric) -> Callable[[Classified], Quantity]:
    def compute(m: Classified) -> Quantity:
        cells = m.tally.counts if m.tally.unit == 1 else m.tally.counts / m.tally.unit
        values = np.full(len(cells), np.nan)
        reasons = []
        for place, (counts, is_empty) in enumerate(zip(cells, m.tally.is_empty, strict=True)):
            reason = None
            if not is_empty:
                values[place], reason = metric.called(MatrixInput(counts, m.tally.names))
            reasons.append(reason)
        causes = (cause(reason, np.array([r is reason for r in reasons])) for reason in FAILED)
        return Quantity(values, first_cause(m.tally.no_samples, *causes))

    return compute


MOST_CELLS = 2_500
"""Cells up to which slopes are computed: each costs two calls."""
_STEP = 1e-3
"""Step of a cell, relative to its count or to one sample; values lose 13 digits of 16."""


@dataclass(frozen=True, eq=False)
class _Slopes:
    """Slopes of a declared metric at cells of a matrix, each computed once."""

    metric: CustomMetric
    matrix: Cells
    known: dict[int, float] = field(default_factory=dict)

    def __call__(self, actual: Codes, predicted: Codes) -> Floats:
        size = self.matrix.n_classes
        places = np.asarray(actual, np.int64) * size + np.asarray(predicted, np.int64)
        distinct, where = np.unique(places, return_inverse=True)
        if len(distinct) > MOST_CELLS:
            return np.full(places.shape, np.nan)
        slopes = np.array([self._at(*divmod(int(place), size)) for place in distinct], np.float64)
        return np.asarray(slopes[where].reshape(places.shape))

    def _at(self, actual: int, predicted: int) -> float:
        place = actual * self.matrix.n_classes + predicted
        if place not in self.known:
            count = float(self.matrix.counts[actual, predicted])
            step = _STEP * (count or 1.0)
            below = step if count else 0.0  # No cell is smaller than empty.
            high, low = (self._value(actual, predicted, by) for by in (step, -below))
            self.known[place] = self.matrix.total * (high - low) / (step + below)
        return self.known[place]

    def _value(self, actual: int, predicted: int, by: float) -> float:
        counts: NDArray[np.float64] = self.matrix.counts.astype(np.float64)
        counts[actual, predicted] += by
        return self.metric.called(MatrixInput(counts, self.matrix.labels.names))[0]


def gradient_of(metric: CustomMetric) -> Callable[[Cells], Gradient]:
    def gradient(matrix: Cells) -> Gradient:
        value, _ = metric.called(MatrixInput(matrix.counts, matrix.labels.names))
        none = np.zeros(matrix.n_classes)
        return Gradient(value, none, none, none, _Slopes(metric, matrix))

    return gradient


SPECS: tuple[AggregateMetric, ...] = tuple(
    AggregateMetric(
        compute=over_stack(each), gradient=gradient_of(each), interval=_INTERVAL, **each.facts
    )
    for each in custom_metrics("matrix")
)
