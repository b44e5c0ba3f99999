"""The colour of each cell of a confusion matrix: its ramp and the step in it.

Correct cells and errors have separate scales. On a common scale the errors of a good model would
all look empty; the error scale ends at the largest error and grows with the square root, so that a
few errors can be distinguished from none. For shares of a class it ends at a quarter or above.
Both ends are printed in the legend.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import ACTUAL_AXIS, PREDICTED_AXIS
from offdiag.palette import BINS, SMALLEST_ERROR_END, correct_step, error_step
from offdiag_web.charts.matrix_picture import step_codes
from offdiag_web.components import numbers
from offdiag_web.urls.run import Norm

OF_WHAT: dict[Norm, str] = {
    "row": "of the actual class",
    "col": "of the predicted class",
    "all": "of all examples",
    "none": "cases",
}


@dataclass(frozen=True, slots=True)
class ColourScale:
    """Both ends of both ramps, as shares (or counts if nothing is normalised).

    `denominators` has shape (K, 1), (1, K) or (1, 1) and broadcasts against the counts.
    """

    denominators: NDArray[np.int64]
    largest_correct: float
    largest_error: float
    correct_end: str
    error_end: str | None

    def ramp_class(self, share: float, *, is_correct: bool) -> str:
        """CSS class of a cell."""
        end = self.largest_correct if is_correct else self.largest_error
        return ramp_class(share, is_correct=is_correct, end=end)

    def codes(self, matrix: ConfusionMatrix, *, at_least: int = 1) -> NDArray[np.uint8]:
        """The steps of all cells as codes of a picture, (K, K); rarer cells stay empty."""
        shares = matrix.counts / np.maximum(self.denominators, 1)
        is_correct = np.eye(matrix.n_classes, dtype=np.bool_)
        heights = np.where(
            is_correct,
            shares / (self.largest_correct or 1.0),
            np.sqrt(shares / (self.largest_error or 1.0)),
        )
        # The same rounding as for a single cell: halves to even.
        steps = np.clip(np.rint(heights * (BINS - 1)), 1, BINS - 1).astype(np.int64)
        return step_codes(is_correct, steps, matrix.counts >= max(at_least, 1))


def ramp_class(share: float, *, is_correct: bool, end: float = 1.0) -> str:
    """CSS class of a cell with a share of at most `end`; an empty cell has no colour."""
    if not share > 0:
        return "zero"
    step = correct_step(share, end) if is_correct else error_step(share, end)
    return f"{'correct' if is_correct else 'error'}-{step}"


def amount_class(amount: float, end: float) -> str:
    """CSS class of a cost of at most `end`; gains have the colours of correct predictions."""
    if amount == 0:
        return "zero"
    return f"{'error' if amount > 0 else 'correct'}-{correct_step(abs(amount), end)}"


def colour_scale(matrix: ConfusionMatrix, norm: Norm) -> ColourScale:
    """The scale of a whole matrix, which all views of parts of it share."""
    denominators = _denominators(matrix, norm)
    shares = matrix.counts / np.maximum(denominators, 1)
    correct = np.diagonal(shares)
    errors = shares.copy()
    np.fill_diagonal(errors, 0.0)
    is_rate = norm in {"row", "col"}
    largest_error = float(errors.max())
    is_pale = is_rate and 0 < largest_error < SMALLEST_ERROR_END
    return ColourScale(
        denominators=denominators,
        largest_correct=1.0 if is_rate else float(correct.max()),
        largest_error=SMALLEST_ERROR_END if is_pale else largest_error,
        correct_end=numbers.whole_percent(1, 1)
        if is_rate
        else _end(matrix, np.diag(correct), denominators, norm),
        error_end=_error_end(matrix, errors, denominators, norm, is_pale=is_pale),
    )


def _error_end(
    matrix: ConfusionMatrix,
    errors: NDArray[np.float64],
    denominators: NDArray[np.int64],
    norm: Norm,
    *,
    is_pale: bool,
) -> str | None:
    if not errors.max() > 0:
        return None
    if is_pale:
        return numbers.whole_percent(round(100 * SMALLEST_ERROR_END), 100)
    return _end(matrix, errors, denominators, norm)


def _denominators(matrix: ConfusionMatrix, norm: Norm) -> NDArray[np.int64]:
    match norm:
        case "row":
            return np.expand_dims(matrix.actual, PREDICTED_AXIS)
        case "col":
            return np.expand_dims(matrix.predicted, ACTUAL_AXIS)
        case "all":
            return np.array([[matrix.total]])
        case "none":
            return np.array([[1]])


def _end(
    matrix: ConfusionMatrix,
    shares: NDArray[np.float64],
    denominators: NDArray[np.int64],
    norm: Norm,
) -> str:
    """The largest share as printed."""
    place = np.unravel_index(int(np.argmax(shares)), shares.shape)
    count = int(matrix.counts[place])
    if norm == "none":
        return numbers.count(count)
    of = int(np.broadcast_to(denominators, shares.shape)[place])
    return numbers.whole_percent(count, max(of, 1))
