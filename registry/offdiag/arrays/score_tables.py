"""Scores as users hold them, read without losing precision.

What is stored is single precision; what is evaluated in memory is used as it was handed in,
so that results agree with other programs to the last digit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.arrays.score_columns import in_label_order
from offdiag.arrays.tensors import readable
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput

_HINT = "Give an array of finite numbers, of shape (n,) or (n, K) in label order."


def score_table(
    y_score: object, *, n_cases: int, labels: LabelSet | None = None, field: str = "y_score"
) -> NDArray[Any]:
    """Finite scores of shape (n, columns), float32 if they came as float16 or float32.

    An array of shape (n,) becomes one column; columns with names are read by name, as
    `in_label_order` does. Raises `InvalidInput` for another shape, a value that is not finite
    (naming its row), and columns that are called after others than `labels`.
    """
    table = _floats(
        y_score if labels is None else in_label_order(y_score, labels, field=field), field
    )
    if table.ndim == 1:
        table = table[:, np.newaxis]
    if table.ndim != 2 or len(table) != n_cases:
        raise InvalidInput(
            f"the shape is {table.shape}, but there are {n_cases} cases.", field=field, hint=_HINT
        )
    broken = ~np.isfinite(table)
    if broken.any():
        row, column = (int(place) for place in np.argwhere(broken)[0])
        raise InvalidInput(
            f"the score at index {row}, column {column} is {table[row, column]}.",
            field=field,
            hint="Scores are finite numbers; drop the case or repair it.",
        )
    return table


def _floats(y_score: object, field: str) -> NDArray[Any]:
    try:
        array = np.asarray(readable(y_score))
    except ValueError:
        raise InvalidInput("the rows differ in length.", field=field, hint=_HINT) from None
    if array.dtype.kind == "O":
        array = _numbers(array, field)
    if array.dtype.kind not in "iubf":
        raise InvalidInput(f"values of type {array.dtype} are no scores.", field=field, hint=_HINT)
    narrow = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    return array.astype(np.float32 if narrow else np.float64, copy=False)


def _numbers(array: NDArray[Any], field: str) -> NDArray[Any]:
    """Objects as numbers; a missing one becomes NaN and is reported with its place."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"the scores cannot be read as numbers ({error}).", field=field, hint=_HINT
        ) from None
