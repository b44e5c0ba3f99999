"""Slopes of one class as a gradient over all cells, to compare with what is computed at once."""

from __future__ import annotations

import numpy as np

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.gradients import Gradient
from offdiag.metrics.intervals.delta import class_gradients


def class_gradient(matrix: ConfusionMatrix, key: str, code: int) -> Gradient:
    """Slopes of a per-class metric of one class at every cell of a non-empty matrix.

    Value and slopes are not finite where the metric is undefined or has no derivative.
    """
    dual = class_gradients(matrix, (key,))[key]
    hit, missed, false_alarm, rejected = dual.slope[:, code]
    diagonal, actual, predicted = np.zeros((3, matrix.n_classes))
    # The cell of the other classes has slope 0; what is constant over all cells moves nothing.
    actual[code] = missed - rejected
    predicted[code] = false_alarm - rejected
    diagonal[code] = hit - missed - false_alarm + rejected
    return Gradient(float(dual.value[code]), diagonal, actual, predicted)
