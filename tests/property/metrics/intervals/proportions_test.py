"""Laws of intervals of a proportion, for all counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc

from offdiag.metrics.intervals.proportions import clopper_pearson, normal_quantile, wilson

LEVELS = st.floats(0.5, 0.9999)


@st.composite
def counts(draw: st.DrawFn, largest: int = 10**12) -> tuple[int, int]:
    n = draw(st.integers(1, largest))
    return draw(st.integers(0, n)), n


@given(counts(largest=2**53), LEVELS)
def test_both_intervals_hold_the_share_and_stay_in_the_unit_interval(
    pair: tuple[int, int], confidence: float
) -> None:
    x, n = pair

    for method in (wilson, clopper_pearson):
        bounds = method(x, n, confidence=confidence)
        assert 0 <= bounds.low <= x / n <= bounds.high <= 1


@given(counts(), LEVELS)
def test_misses_mirror_hits(pair: tuple[int, int], confidence: float) -> None:
    x, n = pair

    for method in (wilson, clopper_pearson):
        hits = method(x, n, confidence=confidence)
        misses = method(n - x, n, confidence=confidence)
        assert misses.low == pytest.approx(1 - hits.high, rel=1e-6, abs=1e-14)
        assert misses.high == pytest.approx(1 - hits.low, rel=1e-6, abs=1e-14)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n - 1), st.just(n))))
def test_one_more_hit_moves_both_ends_up(pair: tuple[int, int]) -> None:
    x, n = pair

    for method in (wilson, clopper_pearson):
        fewer, more = method(x, n), method(x + 1, n)
        assert fewer.low < more.low
        assert fewer.high < more.high


@given(counts(largest=10**6), st.floats(0.5, 0.9))
def test_more_confidence_contains_less(pair: tuple[int, int], confidence: float) -> None:
    for method in (wilson, clopper_pearson):
        narrow = method(*pair, confidence=confidence)
        wide = method(*pair, confidence=confidence + 0.05)
        assert wide.low <= narrow.low
        assert narrow.high <= wide.high


@given(counts(largest=10**9), LEVELS)
def test_the_ends_of_wilson_are_rejected_by_just_z(
    pair: tuple[int, int], confidence: float
) -> None:
    x, n = pair
    z = normal_quantile(confidence)
    bounds = wilson(x, n, confidence=confidence)

    for end in (float(bounds.low), float(bounds.high)):
        # (p - x/n)^2 = z^2 p (1 - p)/n, multiplied by n^2.
        assert (n * end - x) ** 2 == pytest.approx(z * z * n * end * (1 - end), rel=1e-6, abs=1e-6)


@given(counts(largest=10**6), LEVELS)
def test_the_ends_of_clopper_pearson_have_the_tails_they_promise(
    pair: tuple[int, int], confidence: float
) -> None:
    x, n = pair
    tail = (1 - confidence) / 2
    bounds = clopper_pearson(x, n, confidence=confidence)

    if x > 0:
        at_least_x = betainc(x, n - x + 1, float(bounds.low))
        assert at_least_x == pytest.approx(tail, rel=1e-6)
    if x < n:
        at_most_x = 1 - betainc(x + 1, n - x, float(bounds.high))
        assert at_most_x == pytest.approx(tail, rel=1e-5, abs=1e-12)
