"""Laws of the intervals that have no ends where classes are too small."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from offdiag.metrics.intervals.delta import range_of
from offdiag.metrics.intervals.discrimination import area_bounds
from offdiag.metrics.intervals.suite import (
    AVERAGES_OVER_CLASSES,
    DECIDED_BY_MINORITY,
    suite_intervals,
)
from offdiag.metrics.suite import evaluate_stack
from support.matrices import matrix_of

COUNTS = st.integers(1, 4).flatmap(
    lambda k: arrays(np.int64, (k, k), elements=st.integers(0, 40) | st.just(0))
)


@settings(max_examples=15)
@given(COUNTS.filter(lambda counts: counts.sum() > 0))
def test_ends_hold_the_value_within_the_range_of_the_metric(counts: np.ndarray) -> None:
    values = evaluate_stack(counts, ordinal=False).aggregate
    support = counts.sum(axis=1)

    for key, each in suite_intervals(matrix_of(counts), seed=1, replicates=60).aggregate.items():
        if key in AVERAGES_OVER_CLASSES:
            deciding = int(support[support > 0].min())
        elif key in DECIDED_BY_MINORITY:
            deciding = int(support.sum() - support.max())
        else:
            continue
        interval, value = each.at(), values[key].at().value
        if value is None or deciding < 5:
            assert (interval.low, interval.high) == (None, None), key
        elif interval.low is not None and interval.high is not None:
            smallest, largest = range_of(key)
            assert smallest <= interval.low <= interval.high <= largest, key
            if key in ("balanced_accuracy", "mcc", "cohen_kappa"):
                assert interval.low <= value <= interval.high, key


@given(st.integers(1, 60), st.integers(1, 60), st.floats(0, 1), st.floats(0, 1))
def test_ends_of_an_area_hold_it_and_move_with_it(
    m: int, n: int, one: float, other: float
) -> None:
    smaller, larger = sorted((one, other))
    first, second = area_bounds(smaller, m, n), area_bounds(larger, m, n)

    assert 0 <= first[0] <= smaller <= first[1] <= 1
    assert first[0] <= second[0] + 1e-9
    assert first[1] <= second[1] + 1e-9
    mirrored = area_bounds(1 - smaller, m, n)
    assert abs(mirrored[0] - (1 - first[1])) < 1e-9
