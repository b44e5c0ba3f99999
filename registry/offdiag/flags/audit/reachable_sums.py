"""Which accuracy and macro recall whole numbers of hits can give together.

Each class adds its hits to the accuracy and its hits over its size to macro recall. Few sums
of such fractions fall into a narrow interval, so eight printed decimals of macro recall can be
refuted by the class sizes alone.
"""

from __future__ import annotations

from functools import lru_cache
from math import lcm

import numpy as np
from numpy.typing import NDArray

from offdiag.flags.audit.interval import ROUNDING, Interval

MOST_SUMS = 200_000
"""With more different sums than this nothing is refuted."""
LARGEST_SUM = 2**62

Sums = NDArray[np.int64]


@lru_cache(maxsize=256)
def is_reachable(
    sizes: tuple[int, ...],
    hits: tuple[tuple[int, ...], ...],
    *,
    correct: tuple[int, int],
    macro_recall: Interval,
) -> bool | None:
    """Whether some hits give so many correct cases in all and such a mean recall.

    `sizes` are the classes with cases and `hits` what each may have; `correct` are the fewest
    and most correct cases. None if there are too many sums to try.
    """
    unit = lcm(*sizes)
    if unit * len(sizes) >= LARGEST_SUM:
        return None
    totals, recalls = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for size, possible in zip(sizes, hits, strict=True):
        if len(totals) * len(possible) > MOST_SUMS:
            return None
        own = np.array(possible, np.int64)
        totals, recalls = _distinct(
            (totals[:, np.newaxis] + own).ravel(),
            (recalls[:, np.newaxis] + own * (unit // size)).ravel(),
            most=correct[1],
        )
    mean = recalls / (unit * len(sizes))
    met = (totals >= correct[0]) & (mean >= macro_recall.low - ROUNDING)
    return bool((met & (mean <= macro_recall.high + ROUNDING)).any())


def _distinct(totals: Sums, recalls: Sums, *, most: int) -> tuple[Sums, Sums]:
    """Pairs that occur, each once, without those that have too many hits already."""
    kept = totals <= most
    pairs = np.unique(np.stack([totals[kept], recalls[kept]], axis=-1).view("i8,i8"))
    return pairs["f0"].copy(), pairs["f1"].copy()
