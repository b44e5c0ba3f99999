"""A matrix with fewer classes: those of a group are added up, along both axes alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.collapsing import Collapse
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import STACK_ACTUAL_AXIS, STACK_PREDICTED_AXIS


def collapsed(matrix: ConfusionMatrix, onto: Collapse) -> ConfusionMatrix:
    """The matrix of the classes that are left; errors inside a group are none any more.

    The total stays, the orientation stays, and accuracy can only rise.
    """
    return ConfusionMatrix(collapsed_counts(matrix.counts, onto), onto.labels)


def collapsed_counts(counts: NDArray[Any], onto: Collapse) -> NDArray[Any]:
    """The same for counts of shape (..., K, K), giving (..., U, U) for the U classes left."""
    places = np.array(onto.places)
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], np.arange(len(onto.labels)))
    for axis in (STACK_ACTUAL_AXIS, STACK_PREDICTED_AXIS):
        counts = np.add.reduceat(np.take(counts, order, axis=axis), starts, axis=axis)
    return counts
