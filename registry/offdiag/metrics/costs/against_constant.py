"""Whether examples prove that a run costs no less than the best constant prediction.

An example matters only if its prediction costs more, or less, than the constant one. These
examples count, and so does one extra example with the greatest possible gain, because a rare and
great gain may be missing from them. The shares of the examples are drawn from a Dirichlet
distribution with their numbers, and p is the probability that the mean change is a gain (Gaffke
2005, as described by Learned-Miller and Thomas 2020, arXiv 1905.06208). With one kind of loss and
one of gain, p is that of the exact binomial test of the losses among both; with equal costs, that
of the sign test.

The mean change is a gain where a sum of independent gamma variables is below 0. Its probability
comes from the saddlepoint approximation (Barndorff-Nielsen 1990), which works for any number of
classes. With a handful of examples it exceeds the exact value by a few percent of that value; with
many the two are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.extras import optional
from offdiag.metrics.gradients import Floats
from offdiag.metrics.orientation import STACK_ACTUAL_AXIS, actual_totals
from offdiag.metrics.tally import CLASS_AXIS

RUN_AXIS = 0
CELL_AXIS = -1
HALVINGS = 60
"""Bisections of the interval in which the saddlepoint lies."""
NEARLY_ZERO = 1e-4
"""Arguments below this are replaced by the limit of the approximation."""


@dataclass(frozen=True)
class AgainstConstant:
    """R runs compared with the best constant prediction of each, both arrays (R,).

    `p` is the probability that the run costs less. `in_question` is the number of constant
    predictions that may be the best one, itself included: all others are proved to cost more.
    """

    p: Floats
    in_question: Floats


def against_constant(
    sums: NDArray[Any], squares: NDArray[Any], weights: Floats, *, alpha: float
) -> AgainstConstant:
    """Test a stack (R, K, K) with costs `weights` (K, K).

    `sums` are the sums of sample weights and `squares` those of their squares; without weights,
    both are numbers of samples. Constant predictions that cannot be the best are ruled out at
    `alpha`.
    """
    n_runs, n_classes = len(sums), len(weights)
    totals, total_squares = actual_totals(sums), actual_totals(squares)
    constants = (totals[..., np.newaxis] * weights).sum(axis=STACK_ACTUAL_AXIS)
    best = constants.argmin(axis=CLASS_AXIS)[:, np.newaxis, np.newaxis]
    each = np.broadcast_to(weights, (n_runs, n_classes, n_classes))
    changes = weights - np.take_along_axis(each, best, axis=CELL_AXIS)
    changes = changes / max(float(np.abs(weights).max()), np.finfo(np.float64).tiny)
    # The change by one sample of the weight expected in its class.
    of_one = changes * _divided(total_squares, totals)[..., np.newaxis]

    is_occupied = (sums > 0).any(axis=RUN_AXIS).ravel()
    cells = (n_runs, n_classes**2)
    p = probability_of_gain(
        sums.reshape(cells)[:, is_occupied],
        squares.reshape(cells)[:, is_occupied],
        changes.reshape(cells)[:, is_occupied],
        of_one.reshape(cells).min(axis=CELL_AXIS),
        axis=CELL_AXIS,
    )
    in_question = np.ones(n_runs)
    asked = p <= alpha
    if asked.any():
        of_constants = probability_of_gain(
            totals[asked][..., np.newaxis],
            total_squares[asked][..., np.newaxis],
            changes[asked],
            of_one[asked].min(axis=STACK_ACTUAL_AXIS),
            axis=STACK_ACTUAL_AXIS,
        )
        in_question[asked] += np.count_nonzero(of_constants > alpha, axis=CLASS_AXIS)
    return AgainstConstant(p, in_question)


def probability_of_gain(
    sums: NDArray[Any], squares: NDArray[Any], changes: Floats, greatest: Floats, *, axis: int
) -> Floats:
    """Probability that the mean change is negative, for samples by kind along `axis`.

    `greatest` is the most negative change that one sample can make; if it is not negative, there
    is nothing to gain and the probability is 0.
    """
    # The number of equal samples whose sum of changes has the same relative variance.
    squared = np.square(changes)
    changed = (squares * squared).sum(axis=axis)
    unit = np.where(changed > 0, _divided((sums * squared).sum(axis=axis), changed), 1.0)
    numbers = np.where(changes == 0, 0.0, sums * np.expand_dims(unit, axis))
    one_more = np.expand_dims(greatest * unit, axis)
    shapes = np.concatenate([numbers, np.ones_like(one_more)], axis=axis)
    with optional:
        from scipy.special import ndtr

    values = np.concatenate([changes, one_more], axis=axis)
    used = np.where(shapes > 0, values, 0.0)
    smallest, largest = used.min(axis=axis, keepdims=True), used.max(axis=axis, keepdims=True)
    is_open = (smallest < 0) & (largest > 0)
    used = np.where(is_open, used, 0.0)
    low, high = (
        1 / np.where(is_open, end, sign) for end, sign in ((smallest, -1.0), (largest, 1.0))
    )
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_below = (shapes * used / (1 - middle * used)).sum(axis=axis, keepdims=True) < 0
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    left = 1 - low * used
    cumulant = -(shapes * np.log(left)).sum(axis=axis)
    variance = (shapes * np.square(used / left)).sum(axis=axis)
    skewness = _divided((2 * shapes * (used / left) ** 3).sum(axis=axis), variance**1.5)
    point = low.squeeze(axis)
    root = np.sign(point) * np.sqrt(np.maximum(-2 * cumulant, 0.0))
    is_central = np.abs(root) < NEARLY_ZERO
    safe = np.where(is_central, 1.0, root)
    ratio = np.where(is_central, 1.0, point * np.sqrt(variance) / safe)
    tail = ndtr(safe + np.log(ratio) / safe)
    found = np.where(is_central, 0.5 + skewness / (6 * np.sqrt(2 * np.pi)), tail)
    certain = np.where(smallest < 0, 1.0, 0.0).squeeze(axis)
    return np.where(is_open.squeeze(axis), found, certain)


def _divided(above: NDArray[Any], below: NDArray[Any]) -> Floats:
    """above / below, 0 where there is nothing to divide by."""
    return np.asarray(np.divide(above, below, out=np.zeros(np.shape(below)), where=below > 0))
