"""Slice columns of counted kinds of samples: what is read of samples, and quantiles by counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from offdiag.errors import InvalidInput
from offdiag.inputs.slice_columns import read_slices
from offdiag.inputs.slice_ranges import counted_quantiles


def counted_slices(
    columns: Mapping[str, Sequence[object]], sizes: Sequence[int]
) -> dict[str, Sequence[object]]:
    """Columns of kinds that have `sizes` samples each, with categories in place of other values.

    Numbers with a fraction become ranges at the quartiles of the samples, dates become months, and
    `country/site` also gives a column `country`, as in `read_slices`. Raises `InvalidInput` for
    tags, whose lists are not counted by, and for values that are no numbers.
    """
    found: dict[str, Sequence[object]] = {}
    for name, values in columns.items():
        field = f"slices[{name!r}]"
        if any(isinstance(value, list | tuple | set) for value in values):
            raise InvalidInput(
                "lists of tags are not counted by.",
                field=field,
                hint="Make a column of True and False for each tag, or keep the predictions.",
            )
        is_number = any(isinstance(value, float) for value in values)
        if not is_number and "/" not in name and not isinstance(next(iter(values), None), date):
            found[name] = values
            continue
        bins = None
        if is_number:
            numbers = np.asarray(values, dtype=np.float64)
            if np.isfinite(numbers).all():
                bins = {name: counted_quantiles(numbers, np.asarray(sizes, dtype=np.int64))}
        read = read_slices({name: list(values)}, n_samples=len(values), bins=bins)
        found |= {
            part: [column.levels[code] for code in column.codes.tolist()]
            for part, column in read.items()
            if part == name or part not in columns
        }
    return found
