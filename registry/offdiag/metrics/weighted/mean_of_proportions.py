"""The score interval of a mean of independent proportions, such as the mean recall of K classes.

An end is the mean at which the data are just z standard errors away, the errors being those of the
likeliest proportions with that mean (Martín Andrés, Álvarez Hernández and Herranz Tejedor 2011,
Statistical Methods in Medical Research 20, 369). Of one proportion that is Wilson's interval. Ends
of the single proportions, combined (MOVER), are too close on the side of 1: of 30 classes with
recalls of 0.97 they held the mean in 76 to 94 of 100 data sets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.intervals.proportions import normal_quantile

Floats = NDArray[np.float64]

HALVINGS = 70
"""Of the range of the multiplier, on a logarithmic scale: to the last bit."""
WIDEST = 1e9
"""The multiplier lies between the smallest size over this and the largest times this."""


def score_of_mean(shares: Floats, sizes: Floats, *, confidence: float) -> Bounds:
    """Ends, of shape (), for K >= 1 shares found in so many samples each, above 0."""
    low = _lower_end(shares, sizes, normal_quantile(confidence))
    high = 1.0 - _lower_end(1.0 - shares, sizes, normal_quantile(confidence))
    return Bounds(np.asarray(low), np.asarray(high))


def _lower_end(shares: Floats, sizes: Floats, z: float) -> float:
    low, high = np.log(sizes.min() / WIDEST), np.log(sizes.max() * WIDEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        likeliest = _likeliest(shares, sizes, float(np.exp(middle)))
        distance = (shares - likeliest).sum()
        is_near = distance**2 <= z**2 * (likeliest * (1 - likeliest) / sizes).sum()
        low, high = (middle, high) if is_near else (low, middle)
    return float(_likeliest(shares, sizes, float(np.exp(low))).mean())


def _likeliest(shares: Floats, sizes: Floats, multiplier: float) -> Floats:
    """Of all proportions with their mean, that far below the one found: n (x - p) = m p (1 - p).

    The smaller root, in the form that does not cancel; rounding may not lift it above the share.
    """
    both = sizes + multiplier
    root = np.sqrt(np.maximum(both**2 - 4 * multiplier * sizes * shares, 0.0))
    return np.minimum(2 * sizes * shares / (both + root), shares)
