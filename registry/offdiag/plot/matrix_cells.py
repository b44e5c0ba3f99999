"""Numbers and colours of the cells of a confusion matrix, before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import require_known
from offdiag.metrics.orientation import (
    ACTUAL_AXIS,
    PREDICTED_AXIS,
    actual_totals,
    predicted_totals,
)
from offdiag.plot.palette import CORRECT, ERROR, PAGE, STEPS

Normalize = Literal["actual", "predicted", "all"]
OF_WHAT = {
    "actual": "share of the actual class",
    "predicted": "share of the predicted class",
    "all": "share of all",
}
UNDEFINED = "undefined"


@dataclass(frozen=True, eq=False)
class MatrixCells:
    """Everything a picture of a matrix shows, all (K, K), actual classes along the first axis.

    `shares` is NaN where the class it refers to is empty, and equals `counts` where nothing
    is normalised. `correct_end` and `error_end` are the values at the ends of the ramps.
    """

    counts: NDArray[Any]
    shares: NDArray[np.float64]
    normalize: Normalize | None
    correct_end: float
    error_end: float

    @property
    def n_classes(self) -> int:
        return len(self.counts)

    def colour(self, actual: int, predicted: int) -> str:
        """The colour of a cell; cells without cases have that of the page."""
        share = self.shares[actual, predicted]
        if self.counts[actual, predicted] == 0 or np.isnan(share):
            return PAGE
        if actual == predicted:
            return CORRECT[_step(share / self.correct_end)]
        return ERROR[_step(np.sqrt(share / self.error_end))]

    def count_text(self, actual: int, predicted: int) -> str:
        return number_text(self.counts[actual, predicted])

    def share_text(self, actual: int, predicted: int) -> str:
        """The share as a whole percentage, or the word for none."""
        if self.normalize is None:
            return ""
        return percent_text(float(self.shares[actual, predicted]))

    def ends_text(self) -> tuple[str, str]:
        """What the darkest blue and the darkest orange stand for."""
        show = number_text if self.normalize is None else percent_text
        return show(self.correct_end), show(self.error_end)


def matrix_cells(counts: NDArray[Any], normalize: str | None) -> MatrixCells:
    """Shares and the ends of both ramps.

    Blue runs to 1 for shares of a class, else to the largest value on the diagonal; orange to
    the largest error, by its square root, so that a few errors can be told from none.
    """
    if normalize is not None:
        require_known(normalize, get_args(Normalize), field_name="normalize")
    shares = counts / _denominators(counts, normalize)
    errors = np.nan_to_num(shares)
    largest_correct = float(np.diagonal(errors).max())
    np.fill_diagonal(errors, 0.0)
    return MatrixCells(
        counts=counts,
        shares=shares,
        normalize=normalize,  # type: ignore[arg-type]  # One of them, as just checked.
        correct_end=1.0 if normalize in {"actual", "predicted"} else largest_correct or 1.0,
        error_end=float(errors.max()),
    )


def number_text(number: Any) -> str:
    """Counts with separators; sums of weights with four digits."""
    if isinstance(number, (int, np.integer)) or float(number).is_integer():
        return f"{int(number):,}"
    return f"{float(number):.4g}"


def percent_text(share: float) -> str:
    """ "35 %", "<1 %", ">99 %"; what is not nothing is never "0 %"."""
    if np.isnan(share):
        return UNDEFINED
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{round(100 * share)} %"


def _denominators(counts: NDArray[Any], normalize: str | None) -> NDArray[np.float64]:
    """Broadcasts against the counts; NaN where there is nothing to be a share of."""
    totals: NDArray[Any]
    if normalize == "actual":
        totals = np.expand_dims(actual_totals(counts), PREDICTED_AXIS)
    elif normalize == "predicted":
        totals = np.expand_dims(predicted_totals(counts), ACTUAL_AXIS)
    elif normalize == "all":
        totals = np.asarray([[counts.sum()]])
    else:
        totals = np.ones((1, 1))
    return np.where(totals == 0, np.nan, totals.astype(np.float64))


def _step(fraction: float) -> int:
    """Step of a fraction in 0..1; what is not nothing does not look like nothing."""
    return max(1, min(STEPS - 1, round(float(fraction) * (STEPS - 1))))
