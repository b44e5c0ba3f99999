"""Converting numbers and dates to values of a slice column: ranges and periods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import require_known
from offdiag.domain.slices import range_text
from offdiag.errors import InvalidInput
from offdiag.inputs.columns import Column

if TYPE_CHECKING:
    import pyarrow as pa

Bins: TypeAlias = "int | Sequence[float]"
"""Cut points, ascending, or the number of quantiles to cut at."""
DEFAULT_QUANTILES = 4
MOST_BINS = 50
PERIODS = ("year", "quarter", "month", "week", "day")
DEFAULT_PERIOD = "month"
_DIGITS = 3
"""Significant digits to which quantiles are rounded before values are compared with them."""
_MEANT = 12
"""Significant digits that rounding errors in a sum of a few floats do not reach."""
_NOISE = 8
"""A sum of a few floats may be off by this many steps between neighbouring floats."""


def cut(column: Column, bins: Bins, *, field: str) -> tuple[list[str], NDArray[np.int64]]:
    """The range of each of n numbers, as levels and codes (n,).

    A range includes its lower end, in the precision of the numbers: the float32 0.7 is not under
    0.7. Quantiles are rounded to three digits as long as that keeps them distinct; there are fewer
    ranges if many values are equal. Raises `InvalidInput` for values that are not finite numbers
    and for cut points that do not ascend.
    """
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "iuf":
        raise InvalidInput(
            "the values are not numbers.",
            field=field,
            hint="Convert texts of numbers to numbers, or leave bins out; periods= is for dates.",
        )
    numbers = column.astype(np.float64)
    if not np.isfinite(numbers).all():
        at = int(np.argmin(np.isfinite(numbers)))
        raise InvalidInput(
            f"the value at index {at} is {numbers[at]}.",
            field=field,
            hint="Drop the sample, or add the column later for those that have a value.",
        )
    points = _without_noise(_cut_points(bins, numbers, field=field))
    levels = [range_text(low, high) for low, high in pairwise([None, *points, None])]
    ends = np.asarray(points)
    if column.dtype.kind == "f":
        with np.errstate(over="ignore"):  # Beyond all numbers of this kind.
            ends = ends.astype(column.dtype)
    codes = np.searchsorted(ends.astype(np.float64), numbers, side="right")
    return levels, codes.astype(np.int64)


def _cut_points(bins: Bins, numbers: NDArray[np.float64], *, field: str) -> list[float]:
    refused = InvalidInput(
        f"{bins!r} does not cut a column.",
        field=field,
        hint=f"Give ascending cut points, as [40, 65], or a number of quantiles from 2 to "
        f"{MOST_BINS}.",
    )
    # Sets have no order, and a text would be read by its characters.
    if isinstance(bins, (str, AbstractSet, Mapping)):
        raise refused
    if isinstance(bins, (int, np.integer)):
        wanted, points = int(bins), _quantiles(numbers, int(bins))
    else:
        try:
            points = [float(point) for point in bins]
        except (TypeError, ValueError):
            raise refused from None
        wanted = len(points) + 1
    ascends = all(low < high for low, high in pairwise(points))
    if not 2 <= wanted <= MOST_BINS or not np.isfinite(points).all() or not ascends:
        raise refused
    return points


def _without_noise(points: list[float]) -> list[float]:
    """Cut points as they are meant: 0.3 if a sum came out as 0.30000000000000004.

    This way a range holds the numbers that its name says, and cut points with equal names are
    equal.
    """
    tidy = [float(f"{point:.{_MEANT}g}") for point in points]
    is_noise = np.abs(np.subtract(tidy, points)) <= _NOISE * np.spacing(np.abs(points))
    found = np.where(is_noise, tidy, points).tolist()
    return found if all(low < high for low, high in pairwise(found)) else points


def _quantiles(numbers: NDArray[np.float64], n: int) -> list[float]:
    if n < 2 or not len(numbers):
        return []
    return _rounded(np.quantile(numbers, np.arange(1, n) / n), numbers)


def counted_quantiles(
    numbers: NDArray[np.float64], sizes: NDArray[np.int64], n: int = DEFAULT_QUANTILES
) -> list[float]:
    """The n quantiles of numbers that occur `sizes` times each, as if they were repeated."""
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(sizes[order])
    at = (ends[-1] - 1) * np.arange(1, n) / n
    low, high = (
        numbers[order][np.searchsorted(ends, place, side="right")]
        for place in (np.floor(at), np.ceil(at))
    )
    step = at - np.floor(at)
    # As in `numpy.quantile`, which starts from the nearer end.
    exact = np.where(step < 0.5, low + (high - low) * step, high - (high - low) * (1 - step))
    return _rounded(exact, numbers)


def _rounded(exact: NDArray[np.float64], numbers: NDArray[np.float64]) -> list[float]:
    rounded = np.array([float(f"{each:.{_DIGITS}g}") for each in exact])
    points = rounded if len(np.unique(rounded)) == len(np.unique(exact)) else exact
    # Nothing is below the smallest value, so a cut there would leave an empty range.
    return [float(each) for each in np.unique(points) if each > numbers.min()]


def is_dates(column: Column) -> bool:
    """Whether a column has dates or times."""
    import pyarrow as pa

    return isinstance(column, pa.Array) and pa.types.is_temporal(column.type)


def has_zone(column: Column) -> bool | None:
    """Whether the times of a column have a zone; None for texts of times."""
    import pyarrow as pa

    if not (isinstance(column, pa.Array) and pa.types.is_temporal(column.type)):
        return None
    return getattr(column.type, "tz", None) is not None


def periods_of(column: Column, period: str, *, field: str) -> tuple[list[str], NDArray[np.int64]]:
    """The period of each of n dates, in UTC, as levels and codes (n,).

    Periods are written "2026", "2026-Q1", "2026-03", "2026-03-02" (the Monday of a week) and
    "2026-03-05". Raises `InvalidInput` for anything but dates, times and ISO 8601 texts.
    """
    import pyarrow as pa

    require_known(period, PERIODS, field_name="periods")
    try:
        if not isinstance(column, pa.Array):
            raise pa.ArrowInvalid("they are numbers")
        days = _microseconds(column).to_numpy(zero_copy_only=False)
    except pa.ArrowException as error:
        raise InvalidInput(
            f"the values are not dates ({str(error).splitlines()[0]}).",
            field=field,
            hint="Give dates, times or ISO 8601 texts such as 2026-03-05, all with a zone or all "
            "without.",
        ) from None
    begins = _begins(days.astype("datetime64[D]"), period)
    found, codes = np.unique(begins, return_inverse=True)
    return [_period_text(begin, period) for begin in found], codes.astype(np.int64)


def _microseconds(column: pa.Array) -> pa.Array:
    """Dates, times or texts as times in UTC. Raises what Arrow raises for anything else."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_timestamp(column.type):
        # Nanoseconds are cut off: no period begins between two microseconds.
        return column.cast(pa.timestamp("us"), safe=False)
    try:
        return column.cast(pa.timestamp("us"))
    except pa.ArrowException as error:
        # Texts with an offset, or with nanoseconds, can only be read as such types.
        for kind in (pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.timestamp("ns", "UTC")):
            try:
                return column.cast(kind).cast(pa.timestamp("us"), safe=False)
            except pa.ArrowException:
                continue
        raise error from None


def _begins(days: NDArray[np.datetime64], period: str) -> NDArray[np.datetime64]:
    if period == "week":  # Day 0 of the epoch was a Thursday.
        return np.asarray(days - (days.astype(np.int64) + 3) % 7)
    if period == "quarter":
        months = days.astype("datetime64[M]")
        return np.asarray(months - months.astype(np.int64) % 3)
    unit = {"year": "Y", "month": "M", "day": "D"}[period]
    return days.astype(f"datetime64[{unit}]")


def _period_text(begin: np.datetime64, period: str) -> str:
    if period != "quarter":
        return str(begin)
    year, month = str(begin).split("-")
    return f"{year}-Q{(int(month) + 2) // 3}"
