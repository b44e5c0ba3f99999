"""Scores of one class that were counted in cells where they lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.labels import Codes
from offdiag.metrics.scores.cells import HIGHEST_CODE, LOWEST_CODE, CellSums

CellColumns: TypeAlias = Mapping[str, Sequence[float]]
"""Lists by name, one entry for each kind of samples, whose scores p are in one cell: `code` of
the cell, `low` and `high` the smallest and largest p, `score` the sum of p, `square` and
`rest_square` of p^2 and (1 - p)^2, `surprise` and `rest_surprise` of -ln p and -ln(1 - p), where
those are finite. Which ones are losses depends on the actual class."""
MISSING, OUTSIDE = -50_000, 50_000
"""Codes of rows without a score, and of scores that are no probabilities."""
_LARGEST_SURPRISE = 104.0
"""-ln of the smallest number of single precision above 0 is 103.3."""
_SLACK = 1e-6
"""Sums in single precision and another order may be off by this share of the samples."""


def cell_sums(
    given: CellColumns,
    sizes: NDArray[np.int64],
    actual: Codes,
    *,
    labels: LabelSet,
    positive_label: str | None,
) -> CellSums:
    """What is known of the scores of kinds of `sizes` samples of `actual` class, all (n,).

    Raises `InvalidInput` for other than two classes, without a positive one, and for sums that
    cannot be those of so many samples.
    """
    if len(labels) != 2:
        raise InvalidInput(
            f"one score for each example is counted, and there are {len(labels)} classes.",
            field="score",
            hint="Keep the predictions, or count one class against the rest.",
        )
    if positive_label is None:
        raise InvalidInput(
            f"one score for each example is given, but not whether it is for "
            f"{labels.names[0]!r} or {labels.names[1]!r}.",
            field="positive_label",
            hint="Name the class whose score this is.",
        )
    numbers = {name: np.asarray(values, dtype=np.float64) for name, values in given.items()}
    _require_possible(numbers, sizes)
    is_positive = actual == labels.index[positive_label]
    return CellSums(
        code=numbers["code"].astype(np.int32),
        count=sizes,
        low=numbers["low"].astype(np.float32),
        high=numbers["high"].astype(np.float32),
        score=numbers["score"],
        squared=np.where(is_positive, numbers["rest_square"], numbers["square"]),
        surprise=np.where(is_positive, numbers["surprise"], numbers["rest_surprise"]),
    )


def _require_possible(
    numbers: Mapping[str, NDArray[np.float64]], sizes: NDArray[np.int64]
) -> None:
    low, high, mean = numbers["low"], numbers["high"], numbers["score"] / sizes
    # What is not a number compares with nothing.
    fits = (numbers["code"] >= LOWEST_CODE) & (numbers["code"] <= HIGHEST_CODE)
    fits &= (low >= 0) & (low <= high) & (high <= 1)
    fits &= (mean >= low - _SLACK) & (mean <= high + _SLACK)
    for name in ("square", "rest_square"):
        fits &= (numbers[name] >= 0) & (numbers[name] / sizes <= 1 + _SLACK)
    for name in ("surprise", "rest_surprise"):
        fits &= (numbers[name] >= 0) & (numbers[name] / sizes <= _LARGEST_SURPRISE)
    if not fits.all():
        raise InvalidInput(
            f"the sums of scores of kind {int(np.argmin(fits))} are not those of its samples.",
            field="scores",
            hint="Count probabilities from 0 to 1 with log_frame(..., keep_predictions=False).",
        )
