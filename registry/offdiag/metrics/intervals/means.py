"""Intervals of means over samples: Student's t, losses of probabilities, parts of the Brier score.

Losses are skewed, mostly small with a few large ones. Their interval is taken for the
logarithm of the mean: for 20 samples of log loss that lifts the coverage of a nominal 95 %
interval from about 89 % to about 93 %, and both ends stay positive.

Noise inflates the parts of the Brier score, so they are resampled. With m samples in a cell of
one forecast f and one actual class, and w samples with that forecast,

    n reliability = sum m (|f|^2 - 2 f[class]) + Q,    Q = sum m^2 / w,
    n resolution  = Q - n sum share^2,

so nothing but counts changes from resample to resample, whatever the number of classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import exp, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from offdiag.extras import optional
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE, Interval, size_warning
from offdiag.metrics.intervals.resampling import (
    CELL_AXIS,
    affordable,
    generator,
    reflected_interval,
    resampled_samples,
    row_bootstrap_name,
)
from offdiag.metrics.scores.forecasts import CELLS_AT_ONCE, CLASS_AXIS, Forecasts
from offdiag.metrics.scores.losses import CLIP, groups_of_equal_rows

STUDENT = "student t"
STUDENT_LOG = "student t, log scale"
SMALLEST_RELATIVE_ERROR = 1e-14
"""Errors below this share of the mean are zeros that rounding blurred."""

Floats = NDArray[np.float64]


def mean_interval(values: Floats, *, low: float, high: float, confidence: float) -> Interval:
    """Interval of the mean of n values that lie between `low` and `high`.

    No ends, with a note, for a single case and where all samples are equal.
    """
    mean, error = _mean_and_error(values)
    if error is None:
        return _no_interval(values, STUDENT)
    reach = student_quantile(confidence, n_samples=len(values)) * error
    ends = max(mean - reach, low), min(mean + reach, high)
    return Interval(*ends, STUDENT, note=_warning(values))


def mean_loss_interval(losses: Floats, *, largest: float = inf, confidence: float) -> Interval:
    """Interval of the mean of n losses between 0 and `largest`, on the log scale.

    No ends, with a note, for a single case and where all samples are equal.
    """
    mean, error = _mean_and_error(losses)
    if error is None:
        return _no_interval(losses, STUDENT_LOG)
    reach = student_quantile(confidence, n_samples=len(losses)) * error / mean
    # The exponential of a huge reach is beyond all numbers, its logarithm is not.
    top = log(mean) + reach
    high = largest if largest < inf and top >= log(largest) else _exponential(top)
    return Interval(mean * exp(-reach), high, STUDENT_LOG, note=_warning(losses))


def student_quantile(confidence: float, *, n_samples: int) -> float:
    """The t with P(|T| <= t) = `confidence` for n - 1 degrees of freedom; n is at least 2."""
    with optional:
        from scipy.special import stdtrit

    tail = (1.0 - confidence_level(confidence)) / 2.0
    return float(-stdtrit(n_samples - 1, tail))


def _mean_and_error(values: Floats) -> tuple[float, float | None]:
    """Mean and its standard error, None where that cannot be told from 0."""
    mean = float(values.mean())
    if len(values) < 2:
        return mean, None
    error = float(values.std(ddof=1)) / sqrt(len(values))
    return mean, error if error > SMALLEST_RELATIVE_ERROR * abs(mean) else None


def _no_interval(values: Floats, method: str) -> Interval:
    note = "a single case" if len(values) < 2 else "no variation among the cases"
    return Interval(None, None, method, note=note)


def _warning(values: Floats) -> str | None:
    n_samples = len(values)
    return None if n_samples >= RELIABLE_CLASS_SIZE else f"unreliable, n = {n_samples}"


def _exponential(power: float) -> float | None:
    """e to a power, None where there is no such number."""
    return exp(power) if power < log(np.finfo(np.float64).max) else None


SMALLEST_STANDARD_ERROR = 1e-13
"""Errors below this are zeros that rounding blurred."""


def logit_interval(
    value: float,
    variance: float | None,
    *,
    method: str,
    quantile: float,
    n_smallest: int,
    smallest: str,
) -> Interval:
    """Interval of an area of known variance that stays inside (0, 1).

    `quantile` is how many standard errors it reaches. `n_smallest` is the size of the class
    called `smallest`, which decides how far the variance can be trusted. No ends, with a note,
    if that class has fewer than five cases, or if the area is 0 or 1 or its variance is 0,
    which then says nothing.
    """
    note, has_ends = size_warning(n_smallest, smallest)
    if not has_ends or variance is None:
        return Interval(None, None, method, note=note)
    if variance <= SMALLEST_STANDARD_ERROR**2 or not 0.0 < value < 1.0:
        return Interval(None, None, method, note="no variation among the cases")
    centre = log(value / (1 - value))
    reach = quantile * sqrt(variance) / (value * (1 - value))
    low, high = (float(1 / (1 + np.exp(-end))) for end in (centre - reach, centre + reach))
    return Interval(low, high, method, note=note)


def loss_intervals(forecasts: Forecasts, *, confidence: float) -> dict[str, Interval]:
    """Intervals by key, without `log_loss` where that is infinite.

    Few samples of a class can carry most of a logarithmic loss, so it is called unreliable below
    20 cases of the smallest class that has any. Brier scores are bounded and not affected.
    """
    given = forecasts.of_actual()
    clipped = np.clip(given, CLIP, 1 - CLIP)
    squares = squared_distances(forecasts)
    found = {
        "log_loss_clipped": mean_loss_interval(
            -np.log(clipped), largest=-log(CLIP), confidence=confidence
        ),
        "brier_sum": mean_loss_interval(squares, largest=2.0, confidence=confidence),
        "brier_half": mean_loss_interval(squares / 2, largest=1.0, confidence=confidence),
    }
    if given.all():
        found["log_loss"] = mean_loss_interval(-np.log(given), confidence=confidence)
    support = np.bincount(forecasts.actual)
    warning, _ = size_warning(int(support[support > 0].min()), "smallest class")
    if warning is not None:
        for key in found.keys() & {"log_loss", "log_loss_clipped"}:
            if found[key].low is not None:
                found[key] = replace(found[key], note=warning)
    return found


def squared_distances(forecasts: Forecasts) -> NDArray[np.float64]:
    """Squared distance of each forecast from the vector that is 1 at the actual class, (n,)."""
    parts = []
    for actual, table in forecasts.blocks():
        distance = table.astype(np.float64)
        distance[np.arange(len(actual)), actual] -= 1
        parts.append(np.square(distance).sum(axis=CLASS_AXIS))
    return np.concatenate(parts)


def brier_part_intervals(
    forecasts: Forecasts, *, seed: int, confidence: float, replicates: int
) -> dict[str, Interval]:
    """`brier_reliability`, and `brier_resolution` where it depends on the forecasts.

    At most `replicates` resamples are taken, and the method says how many.
    """
    cells = forecast_cells(forecasts)
    taken = affordable(replicates, cells.count)
    estimates = brier_parts(cells, cells.count[np.newaxis].astype(np.float64))
    values = {key: np.empty(taken) for key in estimates}
    for part, drawn in resampled_samples(cells.count, replicates=taken, rng=generator(seed)):
        for key, found in brier_parts(cells, drawn).items():
            values[key][part] = found
    specs = CATALOGUE[Scope.PROBABILISTIC]
    # Resolution is at most the uncertainty, which is largest for classes of equal size.
    highest: Mapping[str, float] = {"brier_resolution": 1 - 1 / forecasts.n_classes}
    n_samples = forecasts.n_samples
    return {
        key: reflected_interval(
            values[key],
            estimate=float(estimate[0]),
            low=specs[key].low,
            high=highest.get(key, specs[key].high),
            confidence=confidence,
            method=row_bootstrap_name(taken, reflected=True),
            warning=None if n_samples >= RELIABLE_CLASS_SIZE else f"unreliable, n = {n_samples}",
        )
        for key, estimate in estimates.items()
    }


@dataclass(frozen=True, eq=False)
class ForecastCells:
    """m cells of equal forecast and actual class, ordered by class.

    `count` int64 (m,); `distance` (m,) is |f|^2 - 2 f[class]. `class_starts` are the first
    cells of the classes that have any. `shared` are the cells whose forecast was given to
    more than one class, ordered by forecast, and `shared_starts` the first of each forecast
    among them.
    """

    count: NDArray[np.int64]
    distance: Floats
    class_starts: NDArray[np.intp]
    shared: NDArray[np.intp]
    shared_starts: NDArray[np.intp]


def forecast_cells(forecasts: Forecasts) -> ForecastCells:
    """Count samples by forecast and actual class."""
    group, first = groups_of_equal_rows(forecasts.scores)
    keys = forecasts.actual.astype(np.int64) * len(first) + group
    cell, count = np.unique(keys, return_counts=True)
    code, group_of = np.divmod(cell, len(first))
    by_group = np.argsort(group_of, kind="stable")
    is_shared = np.bincount(group_of)[group_of[by_group]] > 1
    shared = by_group[is_shared]
    return ForecastCells(
        count=count.astype(np.int64),
        distance=_distances(forecasts, first, code, group_of),
        class_starts=np.flatnonzero(np.diff(code, prepend=-1)),
        shared=shared,
        shared_starts=np.flatnonzero(np.diff(group_of[shared], prepend=-1)),
    )


def brier_parts(cells: ForecastCells, counts: Floats) -> dict[str, Floats]:
    """`brier_reliability` and `brier_resolution` of counts (b, m).

    Resolution only if some forecast was given to several classes: otherwise it is that of the
    class shares, whatever was forecast.
    """
    n_samples = int(cells.count.sum())
    concentration = _concentration(cells, counts) / n_samples
    distance = np.einsum("rc,c->r", counts, cells.distance) / n_samples
    parts = {"brier_reliability": distance + concentration}
    if len(cells.shared):
        by_class = np.add.reduceat(counts, cells.class_starts, axis=CELL_AXIS)
        squared_shares = np.einsum("rk,rk->r", by_class, by_class) / n_samples**2
        parts["brier_resolution"] = concentration - squared_shares
    return parts


def _concentration(cells: ForecastCells, counts: Floats) -> Floats:
    """Q: all samples, less what is lost where a forecast was given to several classes."""
    every_case: Floats = np.einsum("rc->r", counts)
    if not len(cells.shared):
        return every_case
    shared = counts[:, cells.shared]
    cases = np.add.reduceat(shared, cells.shared_starts, axis=CELL_AXIS)
    squares = np.add.reduceat(shared**2, cells.shared_starts, axis=CELL_AXIS)
    kept = squares / np.maximum(cases, 1)
    return np.asarray(every_case - np.einsum("rg->r", cases) + np.einsum("rg->r", kept))


def _distances(
    forecasts: Forecasts,
    first: NDArray[np.int64],
    code: NDArray[np.int64],
    group_of: NDArray[np.int64],
) -> Floats:
    distance = np.empty(len(code))
    step = max(1, CELLS_AT_ONCE // forecasts.n_classes)
    for start in range(0, len(code), step):
        part = slice(start, start + step)
        rows = forecasts.table[first[group_of[part]]].astype(np.float64)
        own = np.take_along_axis(rows, code[part][:, np.newaxis], axis=CLASS_AXIS)[:, 0]
        distance[part] = np.einsum("ck,ck->c", rows, rows) - 2 * own
    return distance
