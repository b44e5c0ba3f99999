"""Intervals of reliability and resolution of the Brier score.

Noise inflates both, so they are resampled, and reflected around the value. With m samples in a
cell of one forecast f and one actual class, and w samples with that forecast,

    n reliability = sum m (|f|^2 - 2 f[class]) + Q,    Q = sum m^2 / w,
    n resolution  = Q - n sum share^2,

so nothing but counts changes from resample to resample, whatever the number of classes.

Up to `MOST_CELLS` cells resamples are drawn. Above, their mean and spread follow in closed form.
Let the samples of each forecast come in independent Poisson numbers W with mean w, and fall into
classes with the observed shares p. To first order a resample changes the parts by sums over
forecasts of h = sum b m + sum m^2 / W with b = |f|^2 - 2 f for reliability and b = -2 share for
resolution. Given W the classes are multinomial, whose moments are known; with S2 = sum p^2,
S3 = sum p^3, B = sum b p, A = B + S2, c = 1 - S2, e = exp(-w) and i = E[1/W; W > 0]

    E h - h   = c (1 - e)
    Var h     = w (sum b^2 p - B^2) + 2 (1 - e - i) (S2 - S2^2)
                + 4 (w - 3 (1 - e) + 2 i) (S3 - S2^2)
                + 4 (w - 1 + e) (sum b p^2 - S2 B) + A^2 w + c^2 e (1 - e) + 2 A c w e
    Cov(h, W) = A w + c w e,

and drawing as many samples as there are takes (sum Cov)^2 / n off the sum of the variances.

A resample of w samples with one forecast has c (1 - e) of noise, of which the expectation is less
than that of the samples themselves, c w / (w - 1) (Ferro and Fricker 2012, Q. J. R. Meteorol. Soc.
138, 1954): the difference is added to all resamples before they are reflected.
Where few samples share their forecast resolution hangs on those alone; all others are one cell
of their class, and such resamples are drawn in any case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from offdiag.extras import optional
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE, Interval
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.intervals.resampling import (
    CELL_AXIS,
    affordable,
    generator,
    reflected,
    reflected_interval,
    resampled_samples,
    row_bootstrap_name,
)
from offdiag.metrics.scores.forecasts import CLASS_AXIS, SAMPLE_AXIS, Forecasts
from offdiag.metrics.scores.losses import distinct_forecasts

RELIABILITY, RESOLUTION = "brier_reliability", "brier_resolution"
MOST_CELLS = 4_096
"""Cells of forecast and class up to which resamples are drawn."""
FEW_SHARED = 512
"""Cells of shared forecasts up to which those of resolution are drawn in any case."""
CLOSED_FORM = "moments of resampling, reflected"
_LARGEST_EXPONENT = 500
"""Above, the exponential integral leaves the range of numbers and its series is exact."""

Floats = NDArray[np.float64]


def brier_part_intervals(
    forecasts: Forecasts, *, seed: int, confidence: float, replicates: int
) -> dict[str, Interval]:
    """`brier_reliability`, and `brier_resolution` where it depends on the forecasts.

    At most `replicates` resamples are taken, and the method says how many.
    """
    census = _census(forecasts)
    if census.n_cells <= MOST_CELLS:
        cells = forecast_cells(forecasts)
    elif census.n_shared <= FEW_SHARED:
        cells = forecast_cells(forecasts, only_shared=True)
    else:
        return part_moments(forecasts, (RELIABILITY, RESOLUTION), confidence=confidence)
    found = _resampled(forecasts, cells, seed=seed, confidence=confidence, replicates=replicates)
    if census.n_cells > MOST_CELLS:
        found |= part_moments(forecasts, (RELIABILITY,), confidence=confidence)
    return found


@dataclass(frozen=True, slots=True)
class _Census:
    """Cells of forecast and class that have samples, and those whose forecast has several."""

    n_cells: int
    n_shared: int


def _census(forecasts: Forecasts) -> _Census:
    n_cells = n_shared = 0
    for block in distinct_forecasts(forecasts):
        cells = np.count_nonzero(block.counts, axis=CLASS_AXIS)
        n_cells += int(cells.sum())
        n_shared += int(cells[cells > 1].sum())
    return _Census(n_cells, n_shared)


def _resampled(
    forecasts: Forecasts, cells: ForecastCells, *, seed: int, confidence: float, replicates: int
) -> dict[str, Interval]:
    taken = affordable(replicates, cells.count)
    estimates = brier_parts(cells, cells.count[np.newaxis].astype(np.float64))
    values = {key: np.empty(taken) for key in estimates}
    for part, drawn in resampled_samples(cells.count, replicates=taken, rng=generator(seed)):
        for key, found in brier_parts(cells, drawn).items():
            values[key][part] = found
    frame = _Frame.of(forecasts)
    return {
        key: reflected_interval(
            values[key] + frame.unseen_noise,
            estimate=float(estimate[0]),
            low=0.0,
            high=frame.highest[key],
            confidence=confidence,
            method=row_bootstrap_name(taken, reflected=True),
            warning=frame.warning,
        )
        for key, estimate in estimates.items()
    }


@dataclass(frozen=True, slots=True)
class _Frame:
    """What both methods share: the largest value of a part, a warning of few samples, and the
    noise in both parts that resamples do not repeat."""

    highest: Mapping[str, float]
    warning: str | None
    unseen_noise: float

    @classmethod
    def of(cls, forecasts: Forecasts) -> _Frame:
        n_samples = forecasts.n_samples
        return cls(
            # Resolution is at most the uncertainty, which is largest for classes of equal size.
            {RELIABILITY: 2.0, RESOLUTION: 1 - 1 / forecasts.n_classes},
            None if n_samples >= RELIABLE_CLASS_SIZE else f"unreliable, n = {n_samples}",
            unseen_noise(forecasts),
        )


def unseen_noise(forecasts: Forecasts) -> float:
    """By how much noise raises both parts beyond what it raises those of resamples by."""
    found = 0.0
    for block in distinct_forecasts(forecasts):
        size = block.counts.sum(axis=CLASS_AXIS).astype(np.float64)
        several = size > 1
        shares = block.counts / size[:, np.newaxis]
        spread = 1 - np.square(shares).sum(axis=CLASS_AXIS)
        # A single sample shows no spread; that of a calibrated forecast stands in for it.
        alone = 1 - np.square(block.forecast[~several]).sum(axis=CLASS_AXIS)
        size, spread = size[several], spread[several]
        found += float((spread * (size / (size - 1) - 1 + np.exp(-size))).sum() + alone.sum())
    return found / forecasts.n_samples


def part_moments(
    forecasts: Forecasts, keys: Sequence[str], *, confidence: float
) -> dict[str, Interval]:
    """Intervals of parts from mean and spread of resamples in closed form."""
    n_samples = forecasts.n_samples
    share = forecasts.support / n_samples
    sums = {key: np.zeros(4) for key in keys}
    for block in distinct_forecasts(forecasts):
        for key in keys:
            slope = -2 * share
            if key == RELIABILITY:
                squared = np.square(block.forecast).sum(axis=CLASS_AXIS, keepdims=True)
                slope = squared - 2 * block.forecast
            sums[key] += _moments(block.counts, slope)
    if RESOLUTION in keys:
        # The square of the shares is not a sum over forecasts: its value and mean are added here.
        concentration = float(np.square(share).sum())
        sums[RESOLUTION][:2] += concentration * n_samples, concentration - 1
    z = normal_quantile(confidence)
    frame = _Frame.of(forecasts)
    found = {}
    for key, (total, excess, variance, with_size) in sums.items():
        value, mean = total / n_samples, (total + excess) / n_samples + frame.unseen_noise
        spread = sqrt(max(variance - with_size**2 / n_samples, 0.0)) / n_samples
        found[key] = reflected(
            mean - z * spread,
            mean + z * spread,
            estimate=value,
            low=0.0,
            high=frame.highest[key],
            method=CLOSED_FORM,
            warning=frame.warning,
        )
    return found


def _moments(counts: NDArray[np.int64], slope: Floats) -> Floats:
    """Sums over g forecasts of h, E h - h, Var h and Cov(h, W), shape (4,).

    `counts` (g, K) are samples by class, at least one in each row; `slope` is b, (g, K) or (K,).
    """
    size = counts.sum(axis=CLASS_AXIS)
    # A forecast of one sample leaves h = a W: most are such, and this is much less work.
    alone = size == 1
    h = (slope * counts).sum(axis=CLASS_AXIS)[alone] + 1
    found = np.array([float(h.sum()), 0.0, float(np.square(h).sum()), float(h.sum())])
    if alone.all():
        return found
    counts, size = counts[~alone], size[~alone]
    slope = slope if slope.ndim == 1 else slope[~alone]
    w = size.astype(np.float64)
    p = counts / w[:, np.newaxis]
    s2, s3 = (p**2).sum(axis=CLASS_AXIS), (p**2 * p).sum(axis=CLASS_AXIS)
    b, b2 = (slope * p).sum(axis=CLASS_AXIS), (slope**2 * p).sum(axis=CLASS_AXIS)
    bp = (slope * p**2).sum(axis=CLASS_AXIS)
    a, c = b + s2, 1 - s2
    e, inverse = np.exp(-w), _mean_inverse(size)
    variance = (
        w * (b2 - b**2)
        + 2 * (1 - e - inverse) * (s2 - s2**2)
        + 4 * (w - 3 * (1 - e) + 2 * inverse) * (s3 - s2**2)
        + 4 * (w - 1 + e) * (bp - s2 * b)
        + a**2 * w
        + c**2 * e * (1 - e)
        + 2 * a * c * w * e
    )
    columns = w * a, c * (1 - e), variance, a * w + c * w * e
    return found + [float(column.sum()) for column in columns]


def _mean_inverse(mean: NDArray[np.int64]) -> Floats:
    """E[1/W; W > 0] of a Poisson variable W for each of some whole means from 1 on.

    exp(-w) (Ei(w) - ln w - gamma), or its asymptotic series.
    """
    with optional:
        from scipy.special import expi

    up_to = np.arange(1, _LARGEST_EXPONENT)
    table = np.append(0, np.exp(-up_to) * (expi(up_to) - np.log(up_to) - np.euler_gamma))
    w = mean.astype(np.float64)
    series = (1 + (1 + (2 + (6 + 24 / w) / w) / w) / w) / w
    return np.where(mean < len(table), table[np.minimum(mean, len(table) - 1)], series)


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


def forecast_cells(forecasts: Forecasts, *, only_shared: bool = False) -> ForecastCells:
    """Count samples by forecast and actual class.

    With `only_shared` the samples whose forecast has a single class are one cell of that class,
    which says the same of resolution, and nothing of reliability.
    """
    forecast, counts = _distinct(forecasts, only_shared=only_shared)
    is_shared = np.count_nonzero(counts, axis=CLASS_AXIS) > 1
    if only_shared:
        alone = forecasts.support - counts.sum(axis=SAMPLE_AXIS)
        forecast = np.vstack([forecast, np.zeros(forecasts.n_classes)])
        counts, is_shared = np.vstack([counts, alone]), np.append(is_shared, False)
    group, code = np.nonzero(counts)
    by_code = np.argsort(code, kind="stable")
    group, code = group[by_code], code[by_code]
    by_group = np.argsort(group, kind="stable")
    shared = by_group[is_shared[group[by_group]]]
    rows = forecast[group]
    own = np.take_along_axis(rows, code[:, np.newaxis], axis=CLASS_AXIS)[:, 0]
    return ForecastCells(
        count=counts[group, code],
        distance=np.einsum("ck,ck->c", rows, rows) - 2 * own,
        class_starts=np.flatnonzero(np.diff(code, prepend=-1)),
        shared=shared,
        shared_starts=np.flatnonzero(np.diff(group[shared], prepend=-1)),
    )


def _distinct(forecasts: Forecasts, *, only_shared: bool) -> tuple[Floats, NDArray[np.int64]]:
    """Distinct forecasts (g, K) and their samples by class (g, K), in the order of their bytes.

    Resamples are drawn in that order, so that the same forecasts give the same bits.
    """
    rows, counts = [], []
    for block in distinct_forecasts(forecasts):
        wanted = slice(None)
        if only_shared:
            wanted = np.count_nonzero(block.counts, axis=CLASS_AXIS) > 1
        rows.append(block.forecast[wanted])
        counts.append(block.counts[wanted])
    forecast, count = np.concatenate(rows), np.concatenate(counts)
    if not forecasts.has_all_columns or not len(forecast):
        return forecast, count
    given = np.ascontiguousarray(forecast.astype(forecasts.scores.dtype) + 0)
    whole = np.dtype((np.void, given.itemsize * forecasts.n_classes))
    order = np.argsort(given.view(whole).reshape(-1), kind="stable")
    return forecast[order], count[order]


def brier_parts(cells: ForecastCells, counts: Floats) -> dict[str, Floats]:
    """`brier_reliability` and `brier_resolution` of counts (b, m).

    Resolution only if some forecast was given to several classes: otherwise it is that of the
    class shares, whatever was forecast.
    """
    n_samples = int(cells.count.sum())
    concentration = _concentration(cells, counts) / n_samples
    distance = np.einsum("rc,c->r", counts, cells.distance) / n_samples
    parts = {RELIABILITY: distance + concentration}
    if len(cells.shared):
        by_class = np.add.reduceat(counts, cells.class_starts, axis=CELL_AXIS)
        squared_shares = np.einsum("rk,rk->r", by_class, by_class) / n_samples**2
        parts[RESOLUTION] = concentration - squared_shares
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
