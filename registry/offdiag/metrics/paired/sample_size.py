"""How many labelled samples are needed to detect a difference between two runs."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10, sqrt

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.proportions import normal_quantile, wilson

POWER = 0.8
"""The probability that the test detects a difference of the size that matters."""


@dataclass(frozen=True, slots=True)
class SamplesNeeded:
    """Labelled samples, including the present ones, needed to detect a `difference`.

    `low` and `high` come from the ends of the interval of how often the runs disagree.
    `detectable` is the smallest difference that the present `n_samples` detect, as a share; None
    if they detect none.
    """

    difference: float
    n_samples: int
    needed: int
    low: int
    high: int
    detectable: float | None


def samples_needed(
    only_first: int,
    only_second: int,
    n_samples: int,
    *,
    difference: float,
    confidence: float = 0.95,
) -> SamplesNeeded:
    """Samples with which McNemar's test finds `difference` in accuracy with a power of 80 %.

    `only_first` and `only_second` of `n_samples`, at least one, are predicted correctly by one run
    only. For the recall of a class all three are those of the class, and so is the result.
    `difference`, in (0, 1], is the one that matters, not the one that was observed: with the
    latter the result is off by a factor of 0.3 to 30.

    Source: Connor (1987), Biometrics 43, 207.
    """
    discordant = only_first + only_second
    seen = wilson(discordant, n_samples, confidence=confidence)
    needed, low, high = (
        _needed(share, difference, confidence)
        for share in (discordant / n_samples, float(seen.low), float(seen.high))
    )
    detectable = _detectable(discordant / n_samples, n_samples, confidence)
    return SamplesNeeded(difference, n_samples, needed, low, high, detectable)


def samples_for_metric(
    n_samples: int, standard_error: float, *, difference: float, confidence: float = 0.95
) -> int:
    """Samples needed for any metric, from the `standard_error` of its difference on `n_samples`.

    It falls with the square root of the number of samples if the mix of classes stays.
    """
    quantiles = normal_quantile(confidence) + _power_quantile()
    return ceil(n_samples * (quantiles * standard_error / difference) ** 2)


def samples_by_class(
    discordant: NDArray[np.int64],
    n_samples: NDArray[np.int64],
    *,
    difference: float,
    confidence: float = 0.95,
) -> NDArray[np.int64]:
    """The fewest additional samples of each class (K,) that detect a difference in mean recall.

    `discordant` of the `n_samples` of each class (K,) are predicted correctly by one run only.
    Classes without samples do not count and get none. If the present samples suffice, all
    are 0.

    The variance of the difference is the mean over the classes of discordant / n, each divided by
    its samples. For the same effort it falls fastest if the samples of the classes are
    proportional to the root of that rate (Neyman 1934, Journal of the Royal Statistical Society
    97, 558); classes that already have more keep them.
    """
    has_samples = n_samples > 0
    present = n_samples[has_samples].astype(np.float64)
    spread = np.sqrt(discordant[has_samples] / present) / len(present)
    quantiles = normal_quantile(confidence) + _power_quantile()
    allowed = (difference / quantiles) ** 2
    wanted, grows = present.copy(), spread > 0
    is_short = bool((spread**2 / present).sum() > allowed)
    while is_short:
        rest = allowed - (spread[~grows] ** 2 / present[~grows]).sum()
        wanted[grows] = spread[grows] * spread[grows].sum() / rest
        has_enough = wanted < present
        wanted[has_enough] = present[has_enough]
        grows &= ~has_enough
        is_short = bool(has_enough.any())
    further = np.zeros(len(n_samples), np.int64)
    further[has_samples] = np.ceil(wanted - present - 1e-9)
    return further


def about(number: int, *, more_than: int = 0) -> int:
    """A rounded number, 2,000 for 1,959: two digits, which is as precise as such a forecast is.

    A number above `more_than` is not rounded down to it or below.
    """
    step = 10 ** max(floor(log10(number)) - 1, 0)
    rounded = int(round(number / step) * step)
    return number if rounded <= more_than < number else rounded


def _needed(disagreement: float, difference: float, confidence: float) -> int:
    """Samples for a `difference` > 0 if the runs disagree on this share of them (Connor 1987)."""
    # Runs that differ by this much disagree at least as often.
    disagreement = max(disagreement, difference)
    alone = normal_quantile(confidence) * sqrt(disagreement)
    both = alone + _power_quantile() * sqrt(disagreement - difference**2)
    return ceil((both / difference) ** 2)


def _detectable(disagreement: float, n_samples: int, confidence: float) -> float | None:
    """The detectable difference, by bisection: larger differences need fewer samples."""
    low, high = 0.0, 1.0
    if _needed(disagreement, high, confidence) > n_samples:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        if _needed(disagreement, middle, confidence) > n_samples:
            low = middle
        else:
            high = middle
    return high


def _power_quantile() -> float:
    return normal_quantile(2 * POWER - 1)
