"""Rows of a frame as arguments of `log_run`, and errors that name their column and row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.inputs.scores import PickedColumns
from offdiag.sdk.frames.columns import FrameColumns
from offdiag.sdk.frames.opening import EagerFrame

_INDEX = re.compile(r"\bat index (\d+)")


@dataclass(frozen=True, slots=True)
class Rows:
    """Consecutive rows of a frame by columns; `first` is the number of the first one, from 0."""

    values: pa.Table
    first: int

    def __len__(self) -> int:
        return int(self.values.num_rows)

    def arguments(self, columns: FrameColumns) -> dict[str, Any]:
        """The arguments of `log_run` that are arrays. Raises `InvalidInput` for scores."""
        given: dict[str, Any] = {}
        if columns.predicted is not None:
            given["y_pred"] = self.values[columns.predicted]
        if columns.actual is not None:
            given["y_true"] = self.values[columns.actual]
        if columns.scores:
            names = columns.score_classes or columns.scores
            given["y_score"] = PickedColumns(self._scores(columns.scores), names)
        if columns.sample_id is not None:
            given["sample_ids"] = self.values[columns.sample_id]
        if columns.slices:
            given["slices"] = {name: self.values[name] for name in columns.slices}
        return given

    @contextmanager
    def located(self, columns: FrameColumns) -> Iterator[None]:
        """Let errors name the column and the row of the frame instead of argument and index."""
        try:
            yield
        except InvalidInput as error:
            # The ingest counts within what it was given, which is this part of the frame.
            message = _INDEX.sub(
                lambda found: f"in row {self.first + int(found[1])}", str(error.message)
            )
            raise InvalidInput(
                message, field=columns.place_of(error.field), hint=error.hint
            ) from None

    def _row(self, found: re.Match[str]) -> str:
        return f"in row {self.first + int(found[1])}"

    def _scores(self, names: tuple[str, ...]) -> NDArray[np.float32]:
        table = np.stack([self._score(name) for name in names], axis=-1)
        return table[:, 0] if len(names) == 1 else table

    def _score(self, name: str) -> NDArray[np.float32]:
        column = self.values[name]
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            raise InvalidInput(
                f"values of type {column.type} are no scores.",
                field=f"score={name!r}",
                hint="Scores are finite numbers.",
            )
        with np.errstate(over="ignore"):
            values: NDArray[np.float32] = column.to_numpy().astype(np.float32)
        broken = ~np.isfinite(values)
        if broken.any():
            place = int(np.argmax(broken))
            held = column[place].as_py()
            raise InvalidInput(
                f"the score in row {self.first + place} is {'missing' if held is None else held}.",
                field=f"score={name!r}",
                hint="Scores are finite numbers that float32 can hold; drop the row or repair it.",
            )
        return values


def rows_in_memory(frame: EagerFrame) -> Rows:
    """All rows of a frame that is in memory.

    Raises `InvalidInput` for a column whose values are not of one kind, naming the first row
    that differs from the ones before it.
    """
    columns = {name: _arrow(frame[name].to_native(), name) for name in frame.columns}
    return Rows(pa.table(columns), 0)


def _arrow(values: Any, name: str) -> pa.ChunkedArray:
    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        return pa.chunked_array([pa.array(values, from_pandas=True)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        row, kinds = _first_other_kind(list(values))
        raise InvalidInput(
            f"row {row} of column {name!r} holds {kinds}, unlike the rows before it."
            if kinds
            else f"column {name!r} cannot be read ({str(error).splitlines()[0]}).",
            field="frame",
            hint="Use one type for all values of a column: str, int or bool.",
        ) from None


def _first_other_kind(values: list[object]) -> tuple[int, str]:
    """Number and type name of the first value of another type than the ones before it."""
    kind = None
    for row, value in enumerate(values):
        if value is None or value != value:  # noqa: PLR0124  # NaN stands for a missing value.
            continue
        if kind is not None and type(value) is not kind:
            return row, type(value).__name__
        kind = type(value)
    return 0, ""
