"""Several runs of which some have no predictions, ready to be compared with the best.

A run without predictions is compared as if it were of other samples: the errors of two runs
add up, each taken from the interval of its own value. Runs with predictions stay paired.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.dual import Floats
from offdiag.metrics.intervals.bounds import difference_bounds
from offdiag.metrics.intervals.delta import aggregate_gradients
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.paired.confidence_set import Contest
from offdiag.metrics.paired.contests import signs_of, small_classes, tested_metrics
from offdiag.metrics.paired.pooled_slopes import value_covariance
from offdiag.metrics.paired.runs import RunSpread, differences

Values = Sequence[MetricValue]


def unpaired_metric_contest(
    keys: Sequence[str],
    matrices: Sequence[ConfusionMatrix],
    values: Sequence[Values],
    *,
    confidence: float,
) -> Contest:
    """Runs by aggregates; `values` by key and run, each with its interval of `confidence`."""
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
        [[_floats(each), _errors(each, confidence)] for each in values],
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
    """Runs by the recall of one class; each value with its interval of `confidence`."""
    recall = _floats(values)
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
    """The contest with the errors of paired runs, at the given positions, between these."""
    linear, errors = contest.spread.linear.copy(), contest.spread.errors.copy()
    at = np.ix_(range(len(linear)), positions, positions)
    linear[at], errors[at] = paired.spread.linear, paired.spread.errors
    spread = RunSpread(linear, contest.spread.covariance, errors)
    return Contest(contest.values, spread, contest.order, contest.is_tested)


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
        RunSpread(differences(values), covariances.reshape((values.size, values.size)), errors),
        np.array(sorted(range(len(matrices)), key=digests.__getitem__), np.intp),
        is_tested,
    )


def _floats(values: Values) -> Floats:
    return np.array([np.nan if each.value is None else each.value for each in values])


def _errors(values: Values, confidence: float) -> Floats:
    """Standard errors of all differences, as the end of the interval towards 0 suggests them."""
    z = normal_quantile(confidence)
    errors = np.full((len(values), len(values)), np.nan)
    for first, before in enumerate(values):
        for second, after in enumerate(values):
            ends = difference_bounds(before, after)
            if ends is not None and before.value is not None and after.value is not None:
                gap = after.value - before.value
                errors[first, second] = max(gap - ends[0] if gap > 0 else ends[1] - gap, 0.0) / z
    return errors
