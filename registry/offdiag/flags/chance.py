"""Exact binomial tails, for arrays of any size.

Written as incomplete beta integrals, which keep their relative accuracy far into the tail and
for counts beyond 2**31, where scipy's own binomial distribution gives up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

FAIR_COIN = 0.5


def at_most(hits: ArrayLike, cases: ArrayLike, probability: ArrayLike) -> Floats:
    """P(X <= hits) for X ~ Bin(cases, probability); arrays broadcast, NaN stays NaN."""
    from scipy.special import betainc

    x, n, p = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (hits, cases, probability)))
    is_certain = x >= n
    tail = betainc(np.where(is_certain, 1.0, n - x), x + 1.0, 1.0 - p)
    return np.where(np.isnan(p), np.nan, np.where(is_certain, 1.0, tail))


def at_least(hits: ArrayLike, cases: ArrayLike, probability: ArrayLike) -> Floats:
    """P(X >= hits) for X ~ Bin(cases, probability); arrays broadcast, NaN stays NaN."""
    from scipy.special import betainc

    x, n, p = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (hits, cases, probability)))
    is_certain = x <= 0
    tail = betainc(np.where(is_certain, 1.0, x), n - x + 1.0, p)
    return np.where(np.isnan(p), np.nan, np.where(is_certain, 1.0, tail))
