"""Intervals of reliability and resolution of the Brier score, in closed form.

With w samples of one forecast f, and shares p of the actual classes among them,

    n reliability = sum w |f - p|^2,    n resolution = sum w |p - share|^2

over the forecasts. Noise in the shares adds 1 - |p|^2 of the true p for each forecast, estimated
without bias by (1 - |p|^2) w / (w - 1) of the observed p (Ferro and Fricker 2012, Q. J. R.
Meteorol. Soc. 138, 1954); noise in the overall share lowers resolution by that of all n samples.
The value less the noise is the middle of the interval. With b = f - p or p - share and S the
covariance of the class of a sample, its variance is, to second order,

    n Var = mean |b|^4 - (mean |b|^2)^2 + 4 mean b'S b + 2 sum tr(S^2) w / (w - 1) / n.

There p is (count + 1 / K) / (w + 1), since a few samples of a single class prove no certainty.

A forecast of a single sample says nothing about its noise, which lies between 0 and 1 - 1 / K: the
lower end allows for one extreme and the upper end for the other. Where most samples have a
forecast of their own, such ends would say nothing, and none are given.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE, SMALLEST_WITH_ENDS, Interval
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.scores.forecasts import CLASS_AXIS, Forecasts
from offdiag.metrics.scores.losses import distinct_forecasts

RELIABILITY, RESOLUTION = "brier_reliability", "brier_resolution"
MOMENTS = "moments less noise"
MOST_SINGLE = 0.5
"""Share of samples with a forecast of their own above which there are no ends."""

Floats = NDArray[np.float64]


def brier_part_intervals(forecasts: Forecasts, *, confidence: float) -> dict[str, Interval]:
    """Intervals of `brier_reliability` and `brier_resolution` for at least one sample.

    No ends, with a note, if most samples have a forecast of their own, or if fewer than five
    samples lie outside the largest class.
    """
    n_samples, n_classes = forecasts.n_samples, forecasts.n_classes
    n_others = n_samples - int(forecasts.support.max())
    share = forecasts.support / n_samples
    n_single, noise = 0, 0.0
    reliability, resolution = _Sums(), _Sums()
    for block in distinct_forecasts(forecasts):
        size = block.counts.sum(axis=CLASS_AXIS).astype(np.float64)
        several = size > 1
        n_single += int(np.count_nonzero(~several))
        # Forecasts of single samples have none of the noise that shares show.
        unbiased = np.where(several, size / np.maximum(size - 1, 1), 1.0)
        observed = block.counts / size[:, np.newaxis]
        noise += float(((1 - _squared(observed)) * unbiased).sum())
        p = (block.counts + 1 / n_classes) / (size + 1)[:, np.newaxis]
        reliability.add(size, observed - block.forecast, p - block.forecast, p, unbiased)
        resolution.add(size, observed - share, p - share, p, unbiased)
    if n_single > MOST_SINGLE * n_samples:
        note = (
            f"noise cannot be separated: {n_single:,} of {n_samples:,} examples have scores of "
            "their own"
        )
    elif n_others < SMALLEST_WITH_ENDS:
        note = f"unreliable, all but {n_others} of {n_samples:,} examples are of one class"
    else:
        note = None
    if note is not None:
        return dict.fromkeys((RELIABILITY, RESOLUTION), Interval(None, None, MOMENTS, note=note))
    noise_of_share = (1 - float(np.square(share).sum())) * n_samples / (n_samples - 1)
    # Resolution is at most the uncertainty, which is largest for classes of equal size.
    most = 1 - 1 / n_classes
    z = normal_quantile(confidence)
    warning = None if n_samples >= RELIABLE_CLASS_SIZE else f"unreliable, n = {n_samples}"
    found = {}
    for key, sums, of_noise, highest in (
        (RELIABILITY, reliability, noise, 2.0),
        (RESOLUTION, resolution, noise - noise_of_share, most),
    ):
        value = sums.value / n_samples
        reach = z * sqrt(sums.variance(n_samples))
        high = value - of_noise / n_samples + reach
        low = high - 2 * reach - most * n_single / n_samples
        found[key] = _interval(value, max(low, 0.0), min(high, highest), warning)
    return found


def _interval(value: float, low: float, high: float, warning: str | None) -> Interval:
    if low >= high:
        return Interval(None, None, MOMENTS, note="the value is less than its noise")
    notes = [] if warning is None else [warning]
    if not low <= value <= high:
        notes.append("the value lies outside: it is mostly noise")
    return Interval(low, high, MOMENTS, note="; ".join(notes) or None)


@dataclass(slots=True)
class _Sums:
    """Sums over forecasts for one component: n times its value, and those for its variance."""

    value: float = 0.0
    squares: float = 0.0
    fourths: float = 0.0
    crossed: float = 0.0
    of_noise: float = 0.0

    def add(self, size: Floats, observed: Floats, b: Floats, p: Floats, unbiased: Floats) -> None:
        """Add g forecasts: `size` and `unbiased` are (g,), the others (g, K)."""
        square, p_square = _squared(b), _squared(p)
        crossed = (p * b**2).sum(axis=CLASS_AXIS) - (p * b).sum(axis=CLASS_AXIS) ** 2
        traces = p_square - 2 * (p**3).sum(axis=CLASS_AXIS) + p_square**2
        self.value += float((size * _squared(observed)).sum())
        self.squares += float((size * square).sum())
        self.fourths += float((size * square**2).sum())
        self.crossed += float((size * crossed).sum())
        self.of_noise += float((unbiased * traces).sum())

    def variance(self, n_samples: int) -> float:
        mean = self.squares / n_samples
        spread = (self.fourths + 4 * self.crossed + 2 * self.of_noise) / n_samples - mean**2
        return max(spread, 0.0) / n_samples


def _squared(rows: Floats) -> Floats:
    return np.asarray(np.square(rows).sum(axis=CLASS_AXIS))
