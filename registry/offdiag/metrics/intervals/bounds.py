"""An interval, and the intervals of one metric for all classes at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower and upper ends, float64 arrays of one shape, both NaN where there is no interval.

    An upper end of +inf says that the interval has no upper end.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def at(self, *index: int) -> tuple[float | None, float | None]:
        """One interval. An end is None where there is no interval or it is open there."""
        return _finite(self.low[index]), _finite(self.high[index])


@dataclass(frozen=True, slots=True)
class Interval:
    """One interval as it is stored and shown.

    `low` and `high` are finite or None. `method` names how it was found, `undefined_share`
    the share of resamples in which the metric was undefined (0 without resampling), and
    `note` what a reader must know before trusting it.
    """

    low: float | None
    high: float | None
    method: str
    undefined_share: float = 0.0
    note: str | None = None

    @property
    def provenance(self) -> str:
        """Method, share of undefined resamples and note in one line, as shown beside the ends.

        >>> Interval(0.1, 0.9, "wilson", note="unreliable, class has n = 5").provenance
        'wilson; unreliable, class has n = 5'
        """
        parts = [self.method]
        if self.undefined_share:
            parts.append(f"undefined in {self.undefined_share:.1%} of resamples")
        if self.note is not None:
            parts.append(self.note)
        return "; ".join(parts)

    def around(self, value: MetricValue) -> MetricValue:
        """The value with this interval; an undefined value only takes a one-sided one."""
        if value.value is None and self.low is None and self.high is None:
            return value
        return replace(value, ci_low=self.low, ci_high=self.high, ci_method=self.provenance)


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of one metric: of all classes, shape (K,), or of a matrix, shape ().

    `undefined_share` is float64 of the shape of the bounds; `notes` holds a note for each
    place that needs one, keyed by its index.
    """

    bounds: Bounds
    method: str
    undefined_share: NDArray[np.float64]
    notes: dict[tuple[int, ...], str]

    def at(self, *index: int) -> Interval:
        """The interval of one class, or with no index that of the matrix."""
        low, high = self.bounds.at(*index)
        share = float(self.undefined_share[index])
        return Interval(low, high, self.method, share, self.notes.get(index))


def _finite(end: np.float64) -> float | None:
    return float(end) if np.isfinite(end) else None
