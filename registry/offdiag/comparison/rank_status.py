"""Which of several runs is highest by a metric, and which are worse than the best.

A run without predictions is compared as if it were of other samples: the errors of two runs
add up, each derived from the interval of its own value. Runs with predictions stay paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.gradients import Floats
from offdiag.metrics.intervals.bounds import difference_bounds
from offdiag.metrics.intervals.delta import aggregate_gradients
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.many_runs.best_runs import signs_of, small_classes, tested_metrics
from offdiag.metrics.many_runs.confidence_set import BestSet, Compared, Contest
from offdiag.metrics.many_runs.run_spread import RunSpread, differences
from offdiag.metrics.paired.unpaired_runs import value_covariance

SIMULTANEOUS = "simultaneous, slopes at the pooled matrix"
SIMULTANEOUS_UNPAIRED = "simultaneous, square and add, unpaired"


class RankStatus(StrEnum):
    """The standing of a run by one metric."""

    BEST = "best"
    """It has the highest value; others may be as good."""
    NOT_SEPARABLE = "not separable from the best"
    """There is no significant difference from the best."""
    BEHIND = "behind the best"
    """It is significantly worse than the best."""
    NOT_TESTED = "not tested against the best"
    UNDEFINED = "undefined"


@dataclass(frozen=True, slots=True)
class Rank:
    """The standing of a run by one metric.

    `behind` is the run minus the one at position `compared_with`, with the simultaneous interval
    that decides the standing. That other run is the highest, or the one that shows this run to be
    worse if the highest does not. All are None for the highest itself and if undefined. `p` is for
    that difference alone; `p_adjusted` accounts for all runs and metrics compared together.
    """

    value: MetricValue
    rank_status: RankStatus
    behind: MetricValue | None = None
    compared_with: int | None = None
    p: float | None = None
    p_adjusted: float | None = None


def places(
    found: BestSet,
    values: Sequence[MetricValue],
    *,
    lower_is_better: bool = False,
    width: float = inf,
    unpaired: Sequence[int] = (),
) -> tuple[Rank, ...]:
    """The standing of each run by a metric, in their order; equally high runs are all the best.

    `width` is the largest difference that the metric can have. Runs in `unpaired` are compared
    as if of other samples.
    """
    sign = -1.0 if lower_is_better else 1.0
    placed = []
    for run, (value, compared) in enumerate(zip(values, found.compared, strict=True)):
        if run in found.highest:
            placed.append(Rank(value, RankStatus.BEST))
        elif compared is None:
            is_undefined = value.value is None
            status = RankStatus.UNDEFINED if is_undefined else RankStatus.NOT_TESTED
            placed.append(Rank(value, status))
        else:
            is_paired = not {run, compared.rival} & set(unpaired)
            method = SIMULTANEOUS if is_paired else SIMULTANEOUS_UNPAIRED
            placed.append(
                Rank(
                    value,
                    _rank_status(found, run),
                    _difference(compared, sign, width, method),
                    compared.rival,
                    compared.p,
                    compared.p_adjusted,
                )
            )
    return tuple(placed)


def _rank_status(found: BestSet, run: int) -> RankStatus:
    if not found.is_tested[run]:
        return RankStatus.NOT_TESTED
    return RankStatus.NOT_SEPARABLE if found.is_in[run] else RankStatus.BEHIND


def _difference(compared: Compared, sign: float, width: float, method: str) -> MetricValue:
    gap = MetricValue(sign * compared.difference)
    if compared.reach is None:
        return gap
    low, high = (sign * compared.difference + end for end in (-compared.reach, compared.reach))
    return replace(gap, ci_low=max(low, -width), ci_high=min(high, width), ci_method=method)


Values = Sequence[MetricValue]


def unpaired_metric_contest(
    keys: Sequence[str],
    matrices: Sequence[ConfusionMatrix],
    values: Sequence[Values],
    *,
    confidence: float,
) -> Contest:
    """A contest by aggregates; `values` by key and run, each with its interval of `confidence`."""
    signs = signs_of(keys)
    covariances = np.zeros((len(keys), len(matrices), len(keys), len(matrices)))
    for run, matrix in enumerate(matrices):
        with np.errstate(invalid="ignore"):
            covariances[:, run, :, run] = value_covariance(
                matrix, aggregate_gradients(matrix, keys)
            )
    return _contest(
        signs,
        covariances,
        [[np.array(each, float), _errors(each, confidence)] for each in values],
        matrices,
        tested_metrics(keys, matrices),
    )


def unpaired_recall_contest(
    code: int,
    matrices: Sequence[ConfusionMatrix],
    values: Values,
    *,
    confidence: float,
) -> Contest:
    """A contest by the recall of one class; each value has its interval of `confidence`."""
    recall = np.array(values, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = recall * (1 - recall) / [matrix.actual[code] for matrix in matrices]
    covariances = np.zeros((1, len(matrices), 1, len(matrices)))
    covariances[0, :, 0] = np.diag(variances)
    return _contest(
        np.ones((1, 1)),
        covariances,
        [[recall, _errors(values, confidence)]],
        matrices,
        ~small_classes(matrices)[code : code + 1],
    )


def with_pairs(contest: Contest, paired: Contest, positions: Sequence[int]) -> Contest:
    """The contest, with the errors between the runs at these positions taken from `paired`."""
    unpaired = contest.spread
    found = [each.copy() for each in (unpaired.linear, unpaired.errors, unpaired.own_errors)]
    at = np.ix_(range(len(contest.values)), positions, positions)
    of_pairs = paired.spread.linear, paired.spread.errors, paired.spread.own_errors
    for whole, part in zip(found, of_pairs, strict=True):
        whole[at] = part
    linear, errors, own_errors = found
    return replace(
        contest, spread=replace(unpaired, linear=linear, errors=errors, own_errors=own_errors)
    )


def _contest(
    signs: Floats,
    covariances: Floats,
    found: Sequence[Sequence[Floats]],
    matrices: Sequence[ConfusionMatrix],
    is_tested: NDArray[np.bool_],
) -> Contest:
    values = signs * np.stack([value for value, _ in found])
    errors = np.stack([error for _, error in found])
    digests = [matrix.digest for matrix in matrices]
    return Contest(
        values,
        RunSpread(
            differences(values),
            covariances.reshape((values.size, values.size)),
            errors,
            np.zeros(errors.shape),
        ),
        np.array(sorted(range(len(matrices)), key=digests.__getitem__), np.intp),
        is_tested,
    )


def _errors(values: Values, confidence: float) -> Floats:
    """Standard errors of all differences, derived from the end of the interval nearer to 0."""
    z = normal_quantile(confidence)
    errors = np.full((len(values), len(values)), np.nan)
    for first, before in enumerate(values):
        for second, after in enumerate(values):
            ends = difference_bounds(before, after)
            if ends is not None and before.value is not None and after.value is not None:
                gap = after.value - before.value
                errors[first, second] = max(gap - ends[0] if gap > 0 else ends[1] - gap, 0.0) / z
    return errors
