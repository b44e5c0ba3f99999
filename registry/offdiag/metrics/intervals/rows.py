"""Bootstrap of cases one by one, for statistics that are no function of a confusion matrix.

Areas under curves, log loss, multi-label scores and weighted cases need the cases themselves.
The statistic is told how often each case was drawn, which lets it sort or score once and
reuse that for every resample.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.arguments import confidence_level, positive_count
from offdiag.metrics.intervals.bootstrap import percentile_intervals
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.resampling import generator

Multiplicities = NDArray[np.int64]
Statistic = Callable[[Multiplicities], float | None]
"""From how often each case was drawn, shape (n,), to the value; None where undefined."""


def row_bootstrap(
    statistic: Statistic,
    *,
    n_cases: int,
    seed: int,
    confidence: float = 0.95,
    replicates: int = 2_000,
) -> Interval:
    """Percentile interval of a statistic over resampled cases.

    `statistic(np.ones(n_cases))` is the estimate itself. A statistic of indices instead of
    multiplicities m uses np.repeat(np.arange(n_cases), m). Time grows with cases times
    replicates, memory with the cases only.

    Raises `InvalidInput` for no cases, no replicates, or a confidence outside (0, 1).

    >>> losses = np.array([0.1, 0.4, 0.2, 0.9])
    >>> row_bootstrap(lambda m: float(m @ losses) / 4, n_cases=4, seed=1).method
    'row bootstrap, 2000 replicates'
    """
    n = positive_count(n_cases, field="n_cases")
    count = positive_count(replicates, field="replicates")
    level = confidence_level(confidence)
    rng = generator(seed)
    estimate = _as_float(statistic(np.ones(n, np.int64)))
    values = np.empty(count)
    for replicate in range(count):
        drawn = np.bincount(rng.integers(0, n, size=n), minlength=n)
        values[replicate] = _as_float(statistic(drawn))
    method = f"row bootstrap, {count} replicates"
    return percentile_intervals(
        values, estimate=np.asarray(estimate), confidence=level, method=method
    ).at()


def _as_float(value: float | None) -> float:
    return float("nan") if value is None else float(value)
