"""Intervals and tests for evaluations, counts and predictions. Pure functions, no database.

An undefined result is None with a reason beside it, never NaN; unusable arguments raise
`InvalidInput`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.inputs.ids import aligned
from offdiag.metrics.intervals import proportions
from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.paired import scores as ranked_areas
from offdiag.metrics.paired.hypothesis_tests import (
    Bowker,
    CochranQ,
    McNemar,
    StuartMaxwell,
    benjamini_hochberg,
    bowker,
    cochran_q,
    holm,
    mcnemar,
    stuart_maxwell,
)
from offdiag.metrics.paired.resampling import PermutationTest
from offdiag.metrics.paired.scores import DeLong
from offdiag.sdk.evaluations.intervals import (
    multilabel_intervals,
    score_intervals,
    suite_intervals,
)
from offdiag.sdk.evaluations.paired import PairedDifference, paired_difference, permutation_test

__all__ = [
    "Bowker",
    "CochranQ",
    "DeLong",
    "McNemar",
    "PairedDifference",
    "PermutationTest",
    "StuartMaxwell",
    "benjamini_hochberg",
    "bowker",
    "clopper_pearson",
    "cochran_q",
    "delong",
    "holm",
    "mcnemar",
    "multilabel_intervals",
    "paired_difference",
    "permutation_test",
    "score_intervals",
    "stuart_maxwell",
    "suite_intervals",
    "wilson",
]

Count: TypeAlias = "int | np.integer[Any]"
Counts: TypeAlias = "Sequence[int] | NDArray[Any]"
Ends: TypeAlias = "tuple[float | None, float | None]"
ManyEnds: TypeAlias = "tuple[np.ma.MaskedArray[Any, Any], np.ma.MaskedArray[Any, Any]]"


@overload
def wilson(x: Count, n: Count, confidence: float = 0.95) -> Ends: ...
@overload
def wilson(x: Counts, n: Counts | Count, confidence: float = 0.95) -> ManyEnds: ...
def wilson(x: Count | Counts, n: Count | Counts, confidence: float = 0.95) -> Ends | ManyEnds:
    """Wilson's score interval (low, high) of x hits in n cases, for display.

    For arrays both ends are masked arrays. Without cases there is no interval: (None, None),
    or masked places. Raises `InvalidInput` for counts that are negative, not whole, or with
    more hits than cases.

    >>> low, high = wilson(2, 5)
    >>> round(low, 4), round(high, 4)
    (0.1176, 0.7693)
    """
    return _ends(proportions.wilson(x, n, confidence=confidence))


@overload
def clopper_pearson(x: Count, n: Count, confidence: float = 0.95) -> Ends: ...
@overload
def clopper_pearson(x: Counts, n: Counts | Count, confidence: float = 0.95) -> ManyEnds: ...
def clopper_pearson(
    x: Count | Counts, n: Count | Counts, confidence: float = 0.95
) -> Ends | ManyEnds:
    """The exact interval (low, high) of x hits in n cases, where coverage must be guaranteed.

    Arguments, results and errors as for `wilson`; it is never narrower than promised, and
    mostly wider.
    """
    return _ends(proportions.clopper_pearson(x, n, confidence=confidence))


def delong(y_true: ArrayLike, score_a: ArrayLike, score_b: ArrayLike) -> DeLong:
    """Compare the areas under the ROC curve of two scores of the same n samples.

    `y_true` holds 0 and 1 (or booleans), the scores any finite numbers, higher ones for 1, all of
    shape (n,); Series of pandas are paired by their index. `p` is two-sided. The method is that
    of DeLong, DeLong and Clarke-Pearson (1988, Biometrics 44, 837); areas without samples of both
    classes and `z` without variance are None, with the reason. Raises `InvalidInput` for unequal
    lengths, other labels, and scores that are not finite.
    """
    return ranked_areas.delong(**aligned(y_true=y_true, score_a=score_a, score_b=score_b))


def _ends(bounds: Bounds) -> Ends | ManyEnds:
    if bounds.low.ndim == 0:
        return bounds.at()
    return np.ma.masked_invalid(bounds.low), np.ma.masked_invalid(bounds.high)
