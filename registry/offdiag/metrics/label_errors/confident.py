"""Confident learning: the joint distribution of given and true labels from probabilities.

Northcutt, Jiang and Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels",
Journal of Artificial Intelligence Research 70 (2021), 1373-1411. Probabilities must be out of
sample: a model that was trained on a wrong label has often learned it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.orientation import PREDICTED_AXIS
from offdiag.metrics.scores.forecasts import CLASS_AXIS

Labels = NDArray[Any]
Table = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ConfidentLabels:
    """Given labels beside confidently predicted ones.

    `thresholds` (K,) is the mean probability of each class over samples that have its label,
    NaN for a class without samples. `confident` (n,) is the most probable class among those
    that reach their threshold, -1 where none does. `joint` (K, K) counts given labels along the
    actual axis and confident classes along the other (equation 1).
    """

    thresholds: NDArray[np.float64]
    confident: NDArray[np.int64]
    joint: NDArray[np.int64]

    @property
    def n_off_diagonal(self) -> int:
        """Samples whose confident class is not their label."""
        return int(self.joint.sum() - np.trace(self.joint))

    def noise(self, label_counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Estimated joint distribution of given and true labels, (K, K), which sums to 1.

        Rows of the confident joint are scaled to the number of labels (equation 3); a class
        that is never confident keeps its labels.
        """
        rows = self.joint.astype(np.float64)
        empty = rows.sum(axis=PREDICTED_AXIS) == 0
        rows[empty, empty] = 1
        rows *= (label_counts / rows.sum(axis=PREDICTED_AXIS))[:, np.newaxis]
        return np.asarray(rows / max(rows.sum(), 1))


def confident_labels(labels: Labels, probabilities: Table) -> ConfidentLabels:
    """Count given against confident labels.

    `labels` (n,) are codes below K, `probabilities` (n, K).
    """
    n_classes = int(probabilities.shape[CLASS_AXIS])
    codes = labels.astype(np.int64)
    counts = np.bincount(codes, minlength=n_classes)
    own = np.take_along_axis(probabilities, codes[:, np.newaxis], axis=CLASS_AXIS)[:, 0]
    sums = np.bincount(codes, weights=own.astype(np.float64), minlength=n_classes)
    thresholds = np.divide(sums, counts, out=np.full(n_classes, np.nan), where=counts > 0)
    # A rounding error below the mean must not exclude a class whose samples all agree.
    reached = probabilities >= thresholds - 1e-6
    masked = np.where(reached, probabilities, -1.0)
    confident = np.where(reached.any(axis=CLASS_AXIS), masked.argmax(axis=CLASS_AXIS), -1).astype(
        np.int64
    )
    known = confident >= 0
    pairs = codes[known] * n_classes + confident[known]
    joint = np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)
    return ConfidentLabels(thresholds, confident, joint.astype(np.int64))


def margins(labels: Labels, probabilities: Table) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How far the best other class lies above the label, (n,) in [-1, 1], and which it is.

    The normalised margin of the paper with its sign turned, so that suspects come first.
    """
    codes = labels.astype(np.int64)[:, np.newaxis]
    own = np.take_along_axis(probabilities, codes, axis=CLASS_AXIS)[:, 0].astype(np.float64)
    others = probabilities.astype(np.float64)
    np.put_along_axis(others, codes, -np.inf, axis=CLASS_AXIS)
    best = others.argmax(axis=CLASS_AXIS)
    return others.max(axis=CLASS_AXIS) - own, best.astype(np.int64)
