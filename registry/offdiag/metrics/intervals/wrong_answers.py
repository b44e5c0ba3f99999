"""On which classes the wrong answers fall that the samples do not have.

A prior for each other class splits them. A small one leaves them where the samples have some,
which is right where a class is taken for one or two others. Where wrong answers fall on any class,
most of the next ones fall where none has yet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.orientation import actual_totals

MOST_OF_OTHERS = 1.0
"""At this prior all ways to split the wrong answers of a class are equally likely."""


def least_of_others(n_classes: int) -> float:
    """The prior of each other class that leaves the wrong answers of a class where they are."""
    return 1 / max(n_classes * (n_classes - 1), 1)


def prior_of_others(samples: NDArray[Any]) -> float:
    """The prior of each other class that lets wrong answers fall on the same class as often.

    As often as those of two samples of a class do: the share of such pairs estimates the sum of
    squared shares without bias (Simpson 1949, Nature 163, 688).
    """
    n_classes = len(samples)
    wrong = np.array(samples, np.float64)
    np.fill_diagonal(wrong, 0.0)
    of_class = actual_totals(wrong)
    least = least_of_others(n_classes)
    pairs = float((of_class * (of_class - 1)).sum())
    if pairs == 0:
        return least
    alike = float((wrong * (wrong - 1)).sum()) / pairs
    above_even = alike * (n_classes - 1) - 1
    if above_even <= 0:
        return MOST_OF_OTHERS
    return min(max((1 - alike) / above_even, least), MOST_OF_OTHERS)
