"""Checks of the numbers that statistical functions are given.

Each raises `InvalidInput` naming the argument, the offending value and the way out, so that a
swapped, negative or missing number never becomes a plausible result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.errors import InvalidInput
from offdiag.metrics.matrix_frames import placed

LARGEST_COUNT = 2**62
"""Counts stay below this, so that sums and differences of two cannot wrap in int64."""


def whole_counts(values: ArrayLike, *, field: str) -> NDArray[np.int64]:
    """Non-negative whole numbers of any shape, as int64."""
    numbers = _numbers(values, field=field, hint="Give counts: whole numbers, 0 or more.")
    _refuse(~np.isfinite(numbers), numbers, field, "is not finite", "Give whole numbers.")
    _refuse(numbers < 0, numbers, field, "is negative", "Counts are 0 or more.")
    _refuse(numbers >= LARGEST_COUNT, numbers, field, "is too large", "Counts go up to 4.6e18.")
    if numbers.dtype.kind == "f":
        _refuse(
            numbers != np.floor(numbers),
            numbers,
            field,
            "is not whole",
            "Give counts, not shares or sums of weights.",
        )
    return numbers.astype(np.int64)


def count_of(value: object, *, field: str) -> int:
    """One non-negative whole number, as a Python integer."""
    counts = whole_counts(value, field=field)  # type: ignore[arg-type]  # Checked inside.
    if counts.ndim:
        raise InvalidInput(
            f"an array of shape {counts.shape} was given.", field=field, hint="Give one number."
        )
    return int(counts)


def square_table(table: ArrayLike, *, field: str) -> NDArray[np.int64]:
    """A square table of counts, shape (K, K), K at least 1; a DataFrame by the labels it has."""
    cells, _ = placed(table, None)
    counts = whole_counts(cells, field=field)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.size == 0:
        raise InvalidInput(
            f"the shape is {counts.shape}.",
            field=field,
            hint="The table is square: the same classes along both axes.",
        )
    if float(counts.astype(np.float64).sum()) >= LARGEST_COUNT:
        raise InvalidInput(
            "the counts add up to 4.6e18 or more.",
            field=field,
            hint="Totals up to 4.6e18 are supported.",
        )
    return counts


def finite_vector(values: ArrayLike, *, field: str) -> NDArray[np.float64]:
    """A one-dimensional array of finite numbers, shape (n,)."""
    numbers = _numbers(values, field=field, hint="Give a one-dimensional array of numbers.")
    if numbers.ndim != 1:
        raise InvalidInput(
            f"the shape is {numbers.shape}.",
            field=field,
            hint="Give a one-dimensional array, one number for each case.",
        )
    _refuse(~np.isfinite(numbers), numbers, field, "is not finite", "Drop or repair the case.")
    return numbers.astype(np.float64)


def zero_one(values: ArrayLike, *, field: str, hint: str) -> NDArray[np.bool_]:
    """An array of 0 and 1, or of booleans, of any shape, as booleans."""
    array = np.asarray(values)
    if array.dtype.kind == "b":
        return array
    numbers = _numbers(array, field=field, hint=hint)
    _refuse((numbers != 0) & (numbers != 1), numbers, field, "is neither 0 nor 1", hint)
    return numbers.astype(np.bool_)


def probabilities(values: ArrayLike, *, field: str) -> NDArray[np.float64]:
    """Numbers from 0 to 1, of any shape."""
    numbers = _numbers(values, field=field, hint="Give numbers from 0 to 1.")
    outside = ~((numbers >= 0) & (numbers <= 1))
    _refuse(outside, numbers, field, "is not between 0 and 1", "Give probabilities from 0 to 1.")
    return numbers.astype(np.float64)


def confidence_level(confidence: float) -> float:
    """A confidence strictly between 0 and 1."""
    number = _numbers(confidence, field="confidence", hint="Give a number such as 0.95.")
    if number.ndim or not 0.0 < float(number) < 1.0:
        raise InvalidInput(
            f"{confidence!r} is not a number strictly between 0 and 1.",
            field="confidence",
            hint="Write 95 % as 0.95.",
        )
    return float(number)


def positive_count(value: int, *, field: str) -> int:
    """A whole number of at least 1."""
    count = count_of(value, field=field)
    if count == 0:
        raise InvalidInput("it is 0.", field=field, hint="Give a whole number from 1.")
    return count


def _numbers(values: ArrayLike, *, field: str, hint: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidInput("the rows differ in length.", field=field, hint=hint) from None
    if array.dtype.kind not in "iuf" and array.size:
        raise InvalidInput(f"{_shown(values)} is not numeric.", field=field, hint=hint)
    return array if array.size else array.astype(np.float64)


def _refuse(
    broken: NDArray[np.bool_], numbers: NDArray[Any], field: str, what: str, hint: str
) -> None:
    """Raise for the first broken number, if there is one."""
    if not broken.any():
        return
    place = tuple(int(index) for index in np.argwhere(broken)[0])
    where = "".join(f"[{index}]" for index in place)
    prefix = f"the value at {where}, " if where else ""
    raise InvalidInput(f"{prefix}{numbers[place]} {what}.", field=field, hint=hint)


def _shown(values: object) -> str:
    text = repr(values)
    return text if len(text) <= 40 else f"{text[:39]}…"
