"""Columns of a file as numbers, for scores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from offdiag.arrays.files.checks import FileColumn
from offdiag.errors import InvalidInput


def stacked_numbers(columns: Mapping[str, FileColumn]) -> NDArray[np.float64]:
    """Columns of n numbers side by side, shape (n, number of columns), or (n,) for one.

    Raises `InvalidInput` naming the column and the first value that is no number.
    """
    numbers = [_numbers(column, name) for name, column in columns.items()]
    return numbers[0] if len(numbers) == 1 else np.column_stack(numbers)


def _numbers(column: FileColumn, name: str) -> NDArray[np.float64]:
    try:
        array = column if isinstance(column, pa.Array) else pa.array(column)
        numbers = pc.cast(array, pa.float64())
    except pa.ArrowException:
        raise _no_number(column, name) from None
    if numbers.null_count:
        raise _no_number(column, name)
    values: NDArray[np.float64] = numbers.to_numpy(zero_copy_only=False)
    return values


def _no_number(column: FileColumn, name: str) -> InvalidInput:
    values = column.to_pylist() if isinstance(column, pa.Array) else column
    row, value = next((row, value) for row, value in enumerate(values) if not _is_number(value))
    return InvalidInput(
        f"the value at index {row} of column {name!r} is {value!r}.",
        field="file",
        hint="Scores are numbers, with a point before the decimals.",
    )


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]  # whatever is no number raises
    except (TypeError, ValueError):
        return False
    return True
