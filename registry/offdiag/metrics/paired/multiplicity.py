"""Adjusted p values when several comparisons are made at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import probabilities


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Adjust so that the chance of any false alarm stays below the level tested at.

    `p` has shape (m,); the result is in the same order. The i-th smallest p is multiplied by
    m + 1 - i, made monotone and cut at 1 (Holm 1979, Scand. J. Statist. 6, 65). Valid however
    the tests depend on each other. For a few runs. Raises `InvalidInput` outside [0, 1].

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = _vector(p)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    climbing = np.maximum.accumulate(values[order] * factors)
    return _in_given_order(climbing, order)


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """Adjust so that the expected share of false alarms among the findings stays below it.

    `p` has shape (m,); the result is in the same order. The i-th smallest p is multiplied by
    m / i, made monotone from above and cut at 1 (Benjamini and Hochberg 1995, J. R. Statist.
    Soc. B 57, 289). Valid for independent or positively dependent tests. For leaderboards.
    Raises `InvalidInput` outside [0, 1].
    """
    values = _vector(p)
    order = np.argsort(values, kind="stable")
    m = len(values)
    scaled = values[order] * (m / np.arange(1, m + 1))
    climbing = np.minimum.accumulate(scaled[::-1])[::-1]
    return _in_given_order(climbing, order)


def _vector(p: ArrayLike) -> NDArray[np.float64]:
    values = probabilities(p, field="p")
    if values.ndim != 1:
        raise InvalidInput(
            f"the shape is {values.shape}.", field="p", hint="Give one p value per comparison."
        )
    return values


def _in_given_order(adjusted: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    result = np.empty_like(adjusted)
    result[order] = np.minimum(adjusted, 1.0)
    return result
