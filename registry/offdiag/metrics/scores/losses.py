"""Log loss and Brier score: the losses of probabilities.

The Brier score and its exact decomposition. Brier (1950); decomposition by Murphy (1973), "A new
vector partition of the probability score". All parts are on the scale of `brier_sum`, the sum
over classes, for any number of classes: with two classes they are twice the values of the
one-sided form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import POSITIVE_INFINITY, MetricValue, Reason
from offdiag.metrics.scores.forecasts import CELLS_AT_ONCE, CLASS_AXIS, Forecasts, RankedScores
from offdiag.metrics.spec import (
    NO_INTERVAL,
    NOT_PROBABILITIES,
    STUDENT_LOG,
    Direction,
    MetricSpec,
    Scope,
)

CLIP = 1e-15


def log_loss(forecasts: Forecasts) -> MetricValue:
    """Mean of -ln p over the probabilities p given to the actual classes; 0 to infinity, in nats.

    One case whose actual class got probability 0 makes it infinite: then the value is
    undefined with the limit "+inf". Probabilities are used as they are, in double precision.
    """
    given = forecasts.of_actual()
    if not given.all():
        return MetricValue(None, Reason.TRUE_CLASS_GOT_ZERO.value, POSITIVE_INFINITY)
    return MetricValue(_mean_surprise(given))


def log_loss_clipped(forecasts: Forecasts) -> MetricValue:
    """Log loss after moving probabilities into [1e-15, 1 - 1e-15]; always finite.

    The bound does not depend on the type of the scores, so storing them in single precision
    does not change what a confident mistake costs.
    """
    return MetricValue(_mean_surprise(np.clip(forecasts.of_actual(), CLIP, 1 - CLIP)))


def _mean_surprise(given: NDArray[np.float64]) -> float:
    # Adding 0 turns the -0.0 of a perfect forecast into a plain zero.
    return float(-np.log(given).mean()) + 0.0


def brier_scores(forecasts: Forecasts) -> Mapping[str, MetricValue]:
    """`brier_sum` (0 to 2) and `brier_half` (0 to 1).

    The mean over cases of the squared distance between the forecast and the vector that is 1
    at the actual class, and half of it, which for two classes is the familiar (p - y)^2.
    """
    total = 0.0
    for actual, table in forecasts.blocks():
        distance = table.astype(np.float64)
        distance[np.arange(len(actual)), actual] -= 1
        total += float(np.square(distance).sum())
    score = total / forecasts.n_samples
    return {"brier_sum": MetricValue(score), "brier_half": MetricValue(score / 2)}


def brier_decomposition(forecasts: Forecasts) -> Mapping[str, MetricValue]:
    """`brier_reliability`, `brier_resolution`, `brier_uncertainty` of forecasts for all classes.

    Cases are grouped by distinct forecast, so that
    brier_sum = reliability - resolution + uncertainty without a remainder (binning would leave
    one). Where no forecast occurs twice, resolution equals uncertainty and says nothing.
    """
    n_samples, n_classes = forecasts.n_samples, forecasts.n_classes
    share = np.bincount(forecasts.actual, minlength=n_classes) / n_samples
    group, first = groups_of_equal_rows(forecasts.scores)
    size = np.bincount(group)
    cell, count = np.unique(group * n_classes + forecasts.actual, return_counts=True)
    reliability = resolution = 0.0
    step = max(1, CELLS_AT_ONCE // n_classes)
    for start in range(0, len(first), step):
        stop = min(start + step, len(first))
        low, high = np.searchsorted(cell, [start * n_classes, stop * n_classes])
        weight = size[start:stop, np.newaxis]
        observed = np.zeros((stop - start, n_classes))
        observed.reshape(-1)[cell[low:high] - start * n_classes] = count[low:high]
        observed /= weight
        forecast = forecasts.table[first[start:stop]].astype(np.float64)
        reliability += float((weight * np.square(forecast - observed)).sum())
        resolution += float((weight * np.square(observed - share)).sum())
    return {
        "brier_reliability": MetricValue(reliability / n_samples),
        "brier_resolution": MetricValue(resolution / n_samples),
        "brier_uncertainty": MetricValue(float((share * (1 - share)).sum())),
    }


def brier_decomposition_of_event(ranked: RankedScores) -> Mapping[str, MetricValue]:
    """The same three parts for two classes when only one of them has a score.

    The other class has the complement, so every squared distance counts twice.
    """
    size = np.diff(ranked.samples_below)
    observed = np.diff(ranked.positives_below) / size
    share = ranked.n_positive / ranked.n_samples
    distance = ranked.values.astype(np.float64) - observed
    reliability = float((size * np.square(distance)).sum())
    resolution = float((size * np.square(observed - share)).sum())
    return {
        "brier_reliability": MetricValue(2 * reliability / ranked.n_samples),
        "brier_resolution": MetricValue(2 * resolution / ranked.n_samples),
        "brier_uncertainty": MetricValue(2 * share * (1 - share)),
    }


def groups_of_equal_rows(scores: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group number of each row, and one row of each group."""
    # Adding 0 makes -0.0 and 0.0 the same bytes, and a contiguous copy.
    rows = np.ascontiguousarray(scores) + 0
    whole = np.dtype((np.void, rows.itemsize * rows.shape[CLASS_AXIS]))
    keys = rows.view(whole if rows.shape[CLASS_AXIS] > 1 else rows.dtype).reshape(len(rows))
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return group.astype(np.int64), first.astype(np.int64)


_BRIER = "Brier 1950, Verification of forecasts expressed in terms of probability"

_REFLECTED = "Resampled examples, reflected around the value."
_MURPHY = "Murphy 1973, A new vector partition of the probability score"


def _brier_part(
    key: str,
    title: str,
    formula: str,
    direction: Direction,
    notes: str,
    *,
    interval: str = _REFLECTED,
) -> MetricSpec:
    return MetricSpec(
        key=key,
        scope=Scope.PROBABILISTIC,
        interval=interval,
        title=title,
        formula=formula,
        low=0,
        high=2 if key == "brier_reliability" else 1,
        direction=direction,
        source=_MURPHY,
        undefined_when=NOT_PROBABILITIES,
        notes=f"{notes} brier_sum = reliability - resolution + uncertainty.",
    )


SPECS: tuple[MetricSpec, ...] = (
    MetricSpec(
        key="log_loss",
        scope=Scope.PROBABILISTIC,
        interval=f"{STUDENT_LOG} Unreliable below 20 examples of the smallest class.",
        title="Log loss",
        formula="mean of -ln p of the actual class",
        low=0,
        high=math.inf,
        direction=Direction.LOWER,
        source="Good 1952, Rational decisions",
        undefined_when=NOT_PROBABILITIES
        | {Reason.TRUE_CLASS_GOT_ZERO: "an actual class got probability 0; it tends to +inf"},
        other_names={"scikit-learn": "log_loss (clips at the resolution of the score type)"},
        notes="In nats.",
    ),
    MetricSpec(
        key="log_loss_clipped",
        scope=Scope.PROBABILISTIC,
        interval=f"{STUDENT_LOG} Unreliable below 20 examples of the smallest class.",
        title="Log loss (clipped)",
        formula="mean of -ln p of the actual class, p moved into [1e-15, 1 - 1e-15]",
        low=0,
        high=-math.log(1e-15),
        direction=Direction.LOWER,
        source="Good 1952, Rational decisions",
        undefined_when=NOT_PROBABILITIES,
        notes="In nats. The bound is the same for scores of single and double precision.",
    ),
    MetricSpec(
        key="brier_sum",
        scope=Scope.PROBABILISTIC,
        interval=STUDENT_LOG,
        title="Brier score (sum over classes)",
        formula="mean over examples of the sum over classes of (p - y)^2",
        low=0,
        high=2,
        direction=Direction.LOWER,
        source=_BRIER,
        undefined_when=NOT_PROBABILITIES,
        other_names={"scikit-learn": "brier_score_loss(scale_by_half=False)"},
        notes="For two classes twice the familiar (p - y)^2; see brier_half.",
    ),
    MetricSpec(
        key="brier_half",
        scope=Scope.PROBABILISTIC,
        interval=STUDENT_LOG,
        title="Brier score (half)",
        formula="brier_sum / 2",
        low=0,
        high=1,
        direction=Direction.LOWER,
        source=_BRIER,
        undefined_when=NOT_PROBABILITIES,
        other_names={"scikit-learn": "brier_score_loss(scale_by_half=True)"},
        notes="For two classes the mean of (p - y)^2 of the positive class.",
    ),
    _brier_part(
        "brier_reliability",
        "Brier reliability",
        "mean over examples of the squared distance between the forecast and what happened on "
        "average under it",
        Direction.LOWER,
        "0 for a calibrated forecast.",
    ),
    _brier_part(
        "brier_resolution",
        "Brier resolution",
        "mean over examples of the squared distance between what happened under their forecast "
        "and what happened overall",
        Direction.HIGHER,
        "Equals the uncertainty as soon as no forecast occurs twice, and then says nothing.",
    ),
    _brier_part(
        "brier_uncertainty",
        "Brier uncertainty",
        "sum over classes of share times (1 - share)",
        Direction.NEITHER,
        "A property of the data: the score of always forecasting the class shares.",
        interval=NO_INTERVAL,
    ),
)
