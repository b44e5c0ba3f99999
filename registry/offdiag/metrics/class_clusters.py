"""An order of classes in which those that are confused with one another stand together.

Average linkage on the confusion in both directions, each as a share of its actual class. Up to
`EXACT_LEAVES` classes the leaves are then arranged optimally (Bar-Joseph et al. 2001), so that
neighbours are as similar as the tree allows; beyond, that costs seconds and gains little.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.orientation import ACTUAL_AXIS, PREDICTED_AXIS, swap_axes

EXACT_LEAVES = 300


def clustered_order(counts: NDArray[np.int64]) -> list[int]:
    """Codes of all classes of a matrix (K, K), the confused ones side by side.

    Deterministic; without any confusion the declared order stays.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    n_classes = counts.shape[ACTUAL_AXIS]
    supports = counts.sum(axis=PREDICTED_AXIS, keepdims=True)
    shares = counts / np.maximum(supports, 1)
    similarity = shares + swap_axes(shares)
    np.fill_diagonal(similarity, 0.0)
    if n_classes < 3 or not similarity.any():
        return list(range(n_classes))
    distance = similarity.max() - similarity
    np.fill_diagonal(distance, 0.0)
    condensed = squareform(distance, checks=False)
    tree = linkage(condensed, "average")
    if n_classes <= EXACT_LEAVES:
        tree = optimal_leaf_ordering(tree, condensed)
    order: list[int] = leaves_list(tree).tolist()
    return order
