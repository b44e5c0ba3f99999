"""Sums of sample weights as whole numbers.

Fractional cells are multiples of a power of two, as all floats are, so they can be counted
exactly in that unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput

WIDEST_WEIGHT_RATIO = 2.0**150
"""Largest over smallest positive fractional cell; keeps fourth powers inside float64."""


def whole_multiples(weights: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Weights as exact multiples of 1/unit, Python integers, and the unit, a power of two.

    Raises `InvalidInput` for weights that are negative, not finite or more than 45 orders of
    magnitude apart.
    """
    cells = weights.astype(np.float64, copy=False)
    if not np.isfinite(cells).all() or (cells < 0).any():
        raise InvalidInput(
            "a weighted cell is negative or not finite.",
            field="matrix",
            hint="Sums of sample weights are finite and 0 or more.",
        )
    positive = cells[cells > 0]
    if positive.size and positive.max() / WIDEST_WEIGHT_RATIO > positive.min():
        raise InvalidInput(
            f"weights reach from {positive.min():g} to {positive.max():g}.",
            field="matrix",
            hint="Rescale or drop weights that are negligible beside the others.",
        )
    ratios = [cell.as_integer_ratio() for cell in cells.ravel().tolist()]
    unit = max((below for _, below in ratios), default=1)
    whole = np.empty(len(ratios), dtype=object)
    whole[:] = [above * (unit // below) for above, below in ratios]
    return whole.reshape(cells.shape), unit
