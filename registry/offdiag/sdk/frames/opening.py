"""Frames of any library behind one interface."""

from __future__ import annotations

from typing import Any, TypeAlias

import narwhals as nw

from offdiag.errors import InvalidInput
from offdiag.sdk.frames.columns import FrameColumns

EagerFrame: TypeAlias = "nw.DataFrame[Any]"
LazyFrame: TypeAlias = "nw.LazyFrame[Any]"


def opened(frame: object, columns: FrameColumns) -> EagerFrame | LazyFrame:
    """The named columns of a frame, in memory or still on its engine.

    Raises `InvalidInput` for what is no frame, and for a column that it does not have.
    """
    try:
        known: EagerFrame | LazyFrame = nw.from_native(frame)
    except TypeError:
        raise InvalidInput(
            f"{type(frame).__name__} is no frame.",
            field="frame",
            hint="Give a pandas, polars, pyarrow, DuckDB, Dask, Ibis or PySpark frame; "
            "log_run takes arrays.",
        ) from None
    columns.require_in(known.collect_schema().names())
    return known.select(*columns.names)
