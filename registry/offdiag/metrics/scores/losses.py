"""Log loss and Brier score: the losses of probabilities.

The Brier score has an exact decomposition. Brier (1950); decomposition by Murphy (1973), "A new
vector partition of the probability score". All components are on the scale of `brier_sum`, the sum
over classes, for any number of classes: with two classes they are twice the values of the
one-sided form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import POSITIVE_INFINITY, MetricValue, Reason
from offdiag.metrics.scores.forecasts import CELLS_AT_ONCE, CLASS_AXIS, Forecasts, two_columns
from offdiag.metrics.spec import (
    NO_INTERVAL,
    NOT_PROBABILITIES,
    OF_SCORES,
    STUDENT_LOG,
    Direction,
    MetricSpec,
)

CLIP = 1e-15

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, mean and sum of squared deviations of losses, which can be joined over chunks.

    Joining follows Chan, Golub and LeVeque 1983, Algorithms for computing the sample
    variance, which does not subtract large squares. For weighted samples `n_samples` is an
    effective size.
    """

    n_samples: float
    mean: float
    squares: float

    @classmethod
    def of(cls, losses: Floats) -> Moments:
        """The moments of n losses, n at least 1."""
        mean = float(losses.mean())
        return cls(len(losses), mean, float(np.square(losses - mean).sum()))

    def joined(self, other: Moments) -> Moments:
        total = self.n_samples + other.n_samples
        step = other.mean - self.mean
        return Moments(
            total,
            self.mean + step * (other.n_samples / total),
            self.squares + other.squares + step**2 * (self.n_samples * (other.n_samples / total)),
        )


@dataclass(frozen=True, slots=True)
class LossMoments:
    """Moments of the losses of all samples: -ln p, plain and clipped, and squared distances.

    `log` is None if an actual class got probability 0: its loss is infinite.
    """

    log: Moments | None
    log_clipped: Moments
    squared: Moments


def loss_moments(forecasts: Forecasts) -> LossMoments:
    """Moments for at least one sample, read in blocks."""
    return forecasts.once("losses", lambda: _loss_moments(forecasts))


def _loss_moments(forecasts: Forecasts) -> LossMoments:
    logs, clipped, squared = [], [], []
    for actual, rows in forecasts.blocks():
        given = rows[np.arange(len(actual)), actual].astype(np.float64)
        surprise = Moments.of(-np.log(given)) if given.all() else None
        logs.append(surprise)
        if surprise is None or given.min() < CLIP or given.max() > 1 - CLIP:
            surprise = Moments.of(-np.log(np.clip(given, CLIP, 1 - CLIP)))
        clipped.append(surprise)
        squared.append(Moments.of(_squared_distances(actual, rows)))
    finite = [part for part in logs if part is not None]
    return LossMoments(
        reduce(Moments.joined, finite) if len(finite) == len(logs) else None,
        reduce(Moments.joined, clipped),
        reduce(Moments.joined, squared),
    )


def squared_distances(forecasts: Forecasts) -> Floats:
    """Squared distance of each forecast from the vector that is 1 at the actual class, (n,)."""
    return np.concatenate([_squared_distances(*block) for block in forecasts.blocks()])


def _squared_distances(actual: NDArray[Any], rows: NDArray[Any]) -> Floats:
    distance = rows.astype(np.float64)
    distance[np.arange(len(actual)), actual] -= 1
    return np.asarray(np.square(distance).sum(axis=CLASS_AXIS))


def loss_metrics(forecasts: Forecasts) -> Mapping[str, MetricValue]:
    """`log_loss`, `log_loss_clipped`, `brier_sum` and `brier_half` of at least one sample.

    Log loss is the mean of -ln p over the probabilities p given to the actual classes, 0 to
    infinity, in nats. One sample whose actual class got probability 0 makes it infinite: then
    the value is undefined with the limit "+inf". For the clipped version, probabilities are first
    moved into [1e-15, 1 - 1e-15] in any score type, so that storing them in single precision
    does not change what a confident mistake costs.

    The Brier score is the mean of the squared distance between the forecast and the vector that
    is 1 at the actual class (`brier_sum`, 0 to 2), or half of it (`brier_half`, 0 to 1), which
    for two classes is the familiar (p - y)^2.
    """
    return mean_losses(loss_moments(forecasts))


def mean_losses(found: LossMoments) -> dict[str, MetricValue]:
    """The values of `loss_metrics` from moments."""
    infinite = MetricValue(None, Reason.TRUE_CLASS_GOT_ZERO.value, POSITIVE_INFINITY)
    return {
        # Adding 0 turns the -0.0 of a perfect forecast into a plain zero.
        "log_loss": infinite if found.log is None else MetricValue(found.log.mean + 0.0),
        "log_loss_clipped": MetricValue(found.log_clipped.mean + 0.0),
        "brier_sum": MetricValue(found.squared.mean),
        "brier_half": MetricValue(found.squared.mean / 2),
    }


def brier_decomposition(forecasts: Forecasts) -> Mapping[str, MetricValue]:
    """`brier_reliability`, `brier_resolution`, `brier_uncertainty` of at least one sample.

    Samples are grouped by distinct forecast, so that
    brier_sum = reliability - resolution + uncertainty without a remainder (binning would leave
    one). If no forecast occurs twice, resolution equals uncertainty and says nothing.
    """
    n_samples = forecasts.n_samples
    share = forecasts.support / n_samples
    reliability = resolution = 0.0
    for group in distinct_forecasts(forecasts):
        size = group.counts.sum(axis=CLASS_AXIS, keepdims=True)
        observed = group.counts / size
        reliability += float((size * np.square(group.forecast - observed)).sum())
        resolution += float((size * np.square(observed - share)).sum())
    return {
        "brier_reliability": MetricValue(reliability / n_samples),
        "brier_resolution": MetricValue(resolution / n_samples),
        "brier_uncertainty": MetricValue(float((share * (1 - share)).sum())),
    }


@dataclass(frozen=True, slots=True, eq=False)
class DistinctForecasts:
    """g distinct forecasts: `forecast` float64 (g, K), and `counts` of samples by actual class."""

    forecast: Floats
    counts: Counts


def distinct_forecasts(forecasts: Forecasts) -> Iterator[DistinctForecasts]:
    """All distinct forecasts with their samples, in blocks of bounded size.

    With a single column, they are in the order of its scores.
    """
    if not forecasts.has_all_columns and forecasts.positive is not None:
        for block in forecasts.ranked(forecasts.positive).blocks():
            p = block.values.astype(np.float64)
            forecast, samples = (1 - p, p), (block.negative, block.positive)
            if forecasts.positive == 0:
                forecast, samples = forecast[::-1], samples[::-1]
            yield DistinctForecasts(two_columns(*forecast), two_columns(*samples))
        return
    n_classes = forecasts.n_classes
    groups = forecasts.equal_rows
    step = max(1, CELLS_AT_ONCE // n_classes)
    for start in range(0, len(groups.starts), step):
        stop = min(start + step, len(groups.starts))
        begin = groups.starts[start]
        end = groups.starts[stop] if stop < len(groups.starts) else len(groups.order)
        codes = forecasts.actual[groups.order[begin:end]].astype(np.int64)
        sizes = np.diff(groups.starts[start:stop], append=end)
        cell = np.repeat(np.arange(stop - start) * n_classes, sizes) + codes
        counts = np.bincount(cell, minlength=(stop - start) * n_classes)
        rows = forecasts.rows(groups.order[groups.starts[start:stop]])
        yield DistinctForecasts(rows.astype(np.float64), counts.reshape(-1, n_classes))


_BRIER = "Brier 1950, Verification of forecasts expressed in terms of probability"

_LESS_NOISE = (
    "A normal interval for the value less the noise in it. No ends if most examples have scores "
    "of their own, or fewer than 5 examples are outside the largest class."
)
_MURPHY = "Murphy 1973, A new vector partition of the probability score"


_BY_FORECAST = NOT_PROBABILITIES | {
    Reason.FORECASTS_IN_CELLS: "scores were counted in bins, which do not contain the individual "
    "forecasts"
}


def _brier_part(
    key: str,
    title: str,
    formula: str,
    direction: Direction,
    notes: str,
    *,
    interval: str = _LESS_NOISE,
    undefined_when: Mapping[Reason, str] = NOT_PROBABILITIES,
) -> MetricSpec:
    return OF_SCORES(
        key=key,
        interval=interval,
        title=title,
        formula=formula,
        high=2 if key == "brier_reliability" else 1,
        direction=direction,
        source=_MURPHY,
        undefined_when=undefined_when,
        notes=f"{notes} brier_sum = reliability - resolution + uncertainty.",
    )


SPECS: tuple[MetricSpec, ...] = (
    OF_SCORES(
        key="log_loss",
        interval=f"{STUDENT_LOG} Unreliable with fewer than 20 examples in the smallest class.",
        title="Log loss",
        formula="mean of -ln p of the actual class",
        high=math.inf,
        direction=Direction.LOWER,
        source="Good 1952, Rational decisions",
        undefined_when=NOT_PROBABILITIES
        | {Reason.TRUE_CLASS_GOT_ZERO: "an actual class has probability 0; tends to +inf"},
        other_names={"scikit-learn": "log_loss (clips at the resolution of the score type)"},
        notes="In nats.",
    ),
    OF_SCORES(
        key="log_loss_clipped",
        interval=f"{STUDENT_LOG} Unreliable with fewer than 20 examples in the smallest class.",
        title="Log loss (clipped)",
        formula="mean of -ln p of the actual class, p clipped to [1e-15, 1 - 1e-15]",
        high=-math.log(1e-15),
        direction=Direction.LOWER,
        source="Good 1952, Rational decisions",
        undefined_when=NOT_PROBABILITIES,
        notes="In nats. The limits are the same for scores of single and double precision.",
    ),
    OF_SCORES(
        key="brier_sum",
        interval=STUDENT_LOG,
        title="Brier score (sum over classes)",
        formula="mean over examples of the sum over classes of (p - y)^2",
        high=2,
        direction=Direction.LOWER,
        source=_BRIER,
        undefined_when=NOT_PROBABILITIES,
        other_names={"scikit-learn": "brier_score_loss(scale_by_half=False)"},
        notes="For two classes it is twice the familiar mean of (p - y)^2; see brier_half.",
    ),
    OF_SCORES(
        key="brier_half",
        interval=STUDENT_LOG,
        title="Brier score (half)",
        formula="brier_sum / 2",
        direction=Direction.LOWER,
        source=_BRIER,
        undefined_when=NOT_PROBABILITIES,
        other_names={"scikit-learn": "brier_score_loss(scale_by_half=True)"},
        notes="For two classes it is the mean of (p - y)^2 of the positive class.",
    ),
    _brier_part(
        "brier_reliability",
        "Brier reliability",
        "mean over examples of the squared distance between the forecast and the class shares "
        "among examples with that forecast",
        Direction.LOWER,
        "0 for a calibrated forecast, plus noise. If no forecast occurs twice, it equals the "
        "Brier score and is not informative; see brier_miscalibration.",
        undefined_when=_BY_FORECAST,
    ),
    _brier_part(
        "brier_resolution",
        "Brier resolution",
        "mean over examples of the squared distance between the class shares among examples with "
        "the same forecast and the overall shares",
        Direction.HIGHER,
        "Noise increases it. If no forecast occurs twice, it equals the uncertainty and is not "
        "informative; see brier_discrimination.",
        undefined_when=_BY_FORECAST,
    ),
    _brier_part(
        "brier_uncertainty",
        "Brier uncertainty",
        "sum over classes of share (1 - share)",
        Direction.NEITHER,
        "A property of the data: the Brier score of always forecasting the class shares.",
        interval=NO_INTERVAL,
    ),
)
