"""Record batches out of rows and out of arrays that stand for constant text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from offdiag.store.relations.wanted import Wanted


def batch_of_rows(rows: Iterable[Sequence[Any]], schema: pa.Schema, wanted: Wanted) -> pa.Table:
    """Rows in the order of `schema`, narrowed to the wanted columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = {
        field.name: pa.array(column, field.type)
        for field, column in zip(schema, columns, strict=True)
        if field.name in wanted
    }
    return pa.table(arrays, schema=wanted.schema)


def batch_of_arrays(arrays: Mapping[str, Callable[[], pa.Array]], wanted: Wanted) -> pa.Table:
    """Arrays by the name of their column; only those that are wanted are made."""
    return pa.table(
        [arrays[field.name]().cast(field.type) for field in wanted.schema], schema=wanted.schema
    )


def repeated(text: str, n: int) -> pa.Array:
    """The same text n times."""
    return pa.repeat(pa.scalar(text, pa.string()), n)


def named(names: Sequence[str | None], codes: NDArray[Any]) -> pa.Array:
    """The name of each code, shape (n,); a code beyond the names has none."""
    known = pa.array([*names, None], pa.string())
    return known.take(pa.array(np.minimum(codes, len(names))))
