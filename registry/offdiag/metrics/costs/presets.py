"""Costs that need nobody to state them."""

from __future__ import annotations

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.orientation import PREDICTED_AXIS


def zero_one_costs(labels: LabelSet) -> CostMatrix:
    """1 for every error and 0 for every right answer: the mean cost is the error rate."""
    size = len(labels)
    return CostMatrix(np.ones((size, size)) - np.eye(size), labels)


def prevalence_costs(matrix: ConfusionMatrix) -> CostMatrix:
    """Errors cost as much more as their class is rarer than the most frequent one.

    An error on class i costs max_k t_k / t_i, so that all classes together weigh the same and
    runs rank as by balanced accuracy: the total is K' max_k t_k (1 - balanced accuracy). A
    class without cases is priced as if it had one.
    """
    rarity = matrix.actual.max(initial=1) / np.maximum(matrix.actual, 1)
    weights = np.repeat(
        np.expand_dims(rarity, PREDICTED_AXIS), matrix.n_classes, axis=PREDICTED_AXIS
    )
    np.fill_diagonal(weights, 0.0)
    return CostMatrix(weights, matrix.labels)
