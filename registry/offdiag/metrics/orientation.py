"""The two axes of a confusion matrix, and the only place where a matrix is transposed.

Zeng (2025, Mathematics 13(16) 2609) shows which metrics survive a transposition; accuracy,
class F1 and MCC do, so a swapped matrix looks right until its precision or recall is read.
That is why matrices are brought into the canonical orientation here, once, on the way in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.orientation import OrientationEvidence, OrientationVerdict, SourceOrientation

ACTUAL_AXIS = 0
"""Axis of one (K, K) matrix along which the actual class changes."""
PREDICTED_AXIS = 1
"""Axis of one (K, K) matrix along which the predicted class changes."""
STACK_ACTUAL_AXIS = -2
"""`ACTUAL_AXIS` counted from the end: also right for a stack of matrices (..., K, K)."""
STACK_PREDICTED_AXIS = -1
"""`PREDICTED_AXIS` counted from the end."""


def swap_axes(counts: NDArray[Any]) -> NDArray[Any]:
    """The same table laid out with the two axes exchanged, (..., K, K) -> (..., K, K)."""
    return np.ascontiguousarray(np.swapaxes(counts, STACK_ACTUAL_AXIS, STACK_PREDICTED_AXIS))


def to_canonical(counts: NDArray[Any], orientation: SourceOrientation) -> NDArray[Any]:
    """The matrix with actual classes along the first axis, whatever its orientation was."""
    return swap_axes(counts) if orientation is SourceOrientation.ACTUAL_COLUMNS else counts


def invert_classes(counts: NDArray[Any]) -> NDArray[Any]:
    """The counts with the names of both classes exchanged; shape (..., 2, 2)."""
    return counts[..., ::-1, ::-1]


def actual_totals(counts: NDArray[Any]) -> NDArray[Any]:
    """Samples of each actual class (the support), shape (..., K)."""
    return _margin(counts, "...ap->...a", STACK_PREDICTED_AXIS)


def predicted_totals(counts: NDArray[Any]) -> NDArray[Any]:
    """Samples predicted as each class, shape (..., K)."""
    return _margin(counts, "...ap->...p", STACK_ACTUAL_AXIS)


def _margin(counts: NDArray[Any], kept: str, summed_axis: int) -> NDArray[Any]:
    # Einstein summation adds up stacks of small matrices four times as fast, but without the
    # pairwise order that keeps sums of floats accurate, and it would not widen small integers.
    if counts.dtype == np.int64:
        return np.asarray(np.einsum(kept, counts))
    totals: NDArray[Any] = counts.sum(axis=summed_axis)
    return totals


def verify_orientation(
    counts: NDArray[np.int64],
    *,
    source: SourceOrientation,
    class_counts: Sequence[int] | None,
) -> OrientationEvidence:
    """Compare the margins of a canonicalised matrix with the dataset's class counts.

    `counts` has shape (K, K) and is already laid out as the uploader claims; `class_counts`
    holds the K known supports in label order, or None if the dataset has none.
    """
    actual = tuple(int(total) for total in actual_totals(counts))
    predicted = tuple(int(total) for total in predicted_totals(counts))
    if class_counts is None:
        return OrientationEvidence(source, OrientationVerdict.UNVERIFIED, actual, predicted)
    known = tuple(class_counts)
    verdict = {
        (True, False): OrientationVerdict.CANONICAL,
        (False, True): OrientationVerdict.TRANSPOSED,
        (True, True): OrientationVerdict.AMBIGUOUS,
        (False, False): OrientationVerdict.INCONSISTENT,
    }[(actual == known, predicted == known)]
    return OrientationEvidence(source, verdict, actual, predicted, known)
