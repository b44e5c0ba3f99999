"""Custom metrics of scores or label sets, evaluated on the samples, with resampled intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.custom import (
    REPLICATES,
    CustomMetric,
    MultilabelInput,
    ScoreInput,
    custom_metrics,
)
from offdiag.metrics.intervals.bounds import RELIABLE_CLASS_SIZE, Interval, size_warning
from offdiag.metrics.intervals.draws import INTERVAL_SEED, generator
from offdiag.metrics.multilabel.sets import SAMPLE_AXIS
from offdiag.metrics.multilabel.tally import LabelCounts, count_labels
from offdiag.metrics.scores.forecasts import Forecasts

_LEVEL = 0.95
MOST_RESAMPLED = 20_000
"""Most samples for which intervals are resampled, since a custom function may be slow."""


class Smallest(NamedTuple):
    """Size of the smallest class or label that has samples, and what to call it."""

    n_samples: int
    what: str

    @classmethod
    def of(cls, sizes: NDArray[Any], what: str) -> Smallest:
        """The smallest of the `sizes` (K,) that are not 0; `what` is "class" or "label"."""
        return cls(int(sizes[sizes > 0].min(initial=RELIABLE_CLASS_SIZE)), f"smallest {what}")


def value_of_samples(
    metric: CustomMetric,
    given: Callable[[slice | NDArray[Any]], ScoreInput | MultilabelInput],
    *,
    n_samples: int,
    smallest: Smallest,
) -> MetricValue:
    """The value on all samples, with the percentile interval of a bootstrap over samples.

    `given` makes the input of the function from positions of samples.

    Where the smallest class has few samples, resamples contain few of its errors or none, and the
    interval is marked unreliable: with 10 of 100 it covered the true balanced accuracy in 65 of
    100 datasets, with 15 of 300 in 80, with 50 of 1,000 in 92.

    The same samples give the same bits if the function is deterministic. Resamples in
    which it is undefined are left out; if they are a tenth or more, there is no interval.
    """
    if n_samples == 0:
        return MetricValue(None, Reason.NO_SAMPLES.value)
    value, reason = metric.called(given(slice(None)))
    if reason is not None:
        return MetricValue(None, reason.value)
    if n_samples > MOST_RESAMPLED:
        return MetricValue(value)
    rng = generator(INTERVAL_SEED)
    drawn = (rng.integers(n_samples, size=n_samples) for _ in range(REPLICATES))
    found = np.array([metric.called(given(places))[0] for places in drawn])
    found = found[np.isfinite(found)]
    if len(found) <= 0.9 * REPLICATES:
        return MetricValue(value)
    low, high = np.quantile(found, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    note, _ = size_warning(smallest.n_samples, smallest.what)
    method = f"row bootstrap, {REPLICATES} replicates"
    return Interval(float(low), float(high), method, note=note).around(MetricValue(value))


_OF_SCORES = custom_metrics("scores")


def score_values(forecasts: Forecasts, names: tuple[str, ...]) -> dict[str, MetricValue]:
    """Each declared metric of scores by key, with its interval."""
    if not _OF_SCORES:
        return {}
    actual, scores = forecasts.actual, forecasts.table
    return {
        each.key: value_of_samples(
            each,
            lambda places: ScoreInput(actual[places], scores[places], names),
            n_samples=forecasts.n_samples,
            smallest=Smallest.of(forecasts.support, "class"),
        )
        for each in _OF_SCORES
    }


def undefined_in_cells() -> dict[str, MetricValue]:
    """Each declared metric of scores, undefined because scores were counted in bins."""
    return {each.key: MetricValue(None, Reason.FORECASTS_IN_CELLS.value) for each in _OF_SCORES}


_OF_SETS = custom_metrics("multilabel")


def set_values(
    actual: NDArray[np.bool_], predicted: NDArray[np.bool_], names: tuple[str, ...]
) -> dict[str, MetricValue]:
    """Each declared metric of two (n, q) indicator arrays by key, with its interval."""

    def given(places: slice | NDArray[Any]) -> MultilabelInput:
        return label_tables(count_labels(actual[places], predicted[places]), names)

    return {
        each.key: value_of_samples(
            each,
            given,
            n_samples=len(actual),
            smallest=Smallest.of(actual.sum(axis=SAMPLE_AXIS), "label"),
        )
        for each in _OF_SETS
    }


def set_value(key: str, counts: LabelCounts, names: tuple[str, ...]) -> MetricValue | None:
    """A declared metric of counts alone, without an interval; None if the key is not one."""
    for each in _OF_SETS:
        if each.key == key:
            value, reason = each.called(label_tables(counts, names))
            return MetricValue(value) if reason is None else MetricValue(None, reason.value)
    return None


def label_tables(counts: LabelCounts, names: tuple[str, ...]) -> MultilabelInput:
    """The input of a declared function of label counts."""
    hits, actual, predicted = counts.true_positives, counts.actual, counts.predicted
    return MultilabelInput(
        true_positives=hits,
        false_negatives=actual - hits,
        false_positives=predicted - hits,
        true_negatives=counts.n_samples - actual - predicted + hits,
        labels=names,
    )
