"""Slice columns of counted kinds of samples: what is read of samples, and quantiles by counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from offdiag.inputs.slice_columns import read_slices
from offdiag.inputs.slice_ranges import (
    DEFAULT_QUANTILES,
    MOST_BINS,
    Bins,
    counted_quantiles,
)


def counted_slices(
    columns: Mapping[str, Sequence[object]],
    sizes: Sequence[int],
    *,
    bins: Mapping[str, Bins] | None = None,
    periods: Mapping[str, str] | None = None,
) -> dict[str, Sequence[object]]:
    """Columns of kinds that have `sizes` samples each, with categories in place of other values.

    Numbers with a fraction, and columns in `bins`, become ranges: between cut points, or at so
    many quantiles of the samples, quartiles by default. Dates, and columns in `periods`, become
    periods, months by default, and `country/site` also gives a column `country`, as in
    `read_slices`. Lists of tags stay as they are. Raises `InvalidInput` for values that are no
    numbers or dates.
    """
    found: dict[str, Sequence[object]] = {}
    for name, values in columns.items():
        cuts, period = (bins or {}).get(name), (periods or {}).get(name)
        if cuts is None and period is None and any(isinstance(value, float) for value in values):
            cuts = DEFAULT_QUANTILES
        is_date = period is not None or isinstance(next(iter(values), None), date)
        if cuts is None and not is_date and "/" not in name:
            found[name] = values
            continue
        if isinstance(cuts, int):
            cuts = _points(values, sizes, cuts)
        read = read_slices(
            {name: list(values)},
            n_samples=len(values),
            bins=None if cuts is None else {name: cuts},
            periods=None if period is None else {name: period},
        )
        found |= {
            part: [column.levels[code] for code in column.codes.tolist()]
            for part, column in read.items()
            if part == name or part not in columns
        }
    return found


def _points(values: Sequence[object], sizes: Sequence[int], n: int) -> Bins:
    """Where n quantiles of the samples are; n itself where reading them says what is wrong.

    Quantiles of samples that are all equal are those of their kinds, too.
    """
    if not 2 <= n <= MOST_BINS or not all(isinstance(each, int | float) for each in values):
        return n
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        return n
    return counted_quantiles(numbers, np.asarray(sizes, dtype=np.int64), n) or n
