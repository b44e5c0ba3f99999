"""Columns of tags in frames whose libraries do not group by lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import narwhals as nw
import numpy as np

from offdiag.sdk.frames.columns import EagerFrame, LazyFrame

Lists = Mapping[str, Sequence[object]]
"""By the name of a column the lists that the whole numbers in it stand for."""


def with_numbered_lists(
    frame: EagerFrame | LazyFrame, names: Sequence[str]
) -> tuple[EagerFrame | LazyFrame, Lists]:
    """The frame with a whole number in place of each list, in memory only, and these lists.

    A lazy frame stays as it is: its library groups by lists or says that it does not.
    """
    if isinstance(frame, nw.LazyFrame):
        return frame, {}
    lists: dict[str, Sequence[object]] = {}
    for name in names:
        series = frame[name]
        if not isinstance(series.dtype, nw.List | nw.Object):
            continue
        # What pandas reads from Parquet are arrays.
        values = [
            value.tolist() if isinstance(value, np.ndarray) else value
            for value in series.to_list()
        ]
        if not any(isinstance(value, list | tuple) for value in values):
            continue
        places: dict[object, int] = {}
        numbers = [
            places.setdefault(tuple(value) if isinstance(value, list) else value, len(places))
            for value in values
        ]
        # In the index of a frame that has one.
        numbered = nw.new_series(name, numbers, nw.Int64, backend=frame.implementation)
        native = frame.to_native()
        if hasattr(native, "index"):
            aligned = numbered.to_native()
            aligned.index = native.index
            numbered = nw.from_native(aligned, series_only=True)
        frame = frame.with_columns(numbered.alias(name))
        lists[name] = [list(each) if isinstance(each, tuple) else each for each in places]
    return frame, lists
