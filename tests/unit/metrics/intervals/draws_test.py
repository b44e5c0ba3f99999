"""Draws come in batches, and their percentiles are numpy's."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import Reason
from offdiag.metrics.intervals import draws
from offdiag.metrics.intervals.draws import batches, percentile_bounds, replicated
from offdiag.metrics.quantity import REASONS, Quantity


@pytest.mark.parametrize("n_cells", [1, 100, 10**6, 10**9])
def test_batches_cover_all_draws_and_stay_small(n_cells: int) -> None:
    parts = list(batches(2_000, n_cells=n_cells))

    assert [index for part in parts for index in range(part.start, part.stop)] == list(
        range(2_000)
    )
    assert all(
        part.stop - part.start == 1 or (part.stop - part.start) * n_cells <= draws.CELLS_PER_BATCH
        for part in parts
    )


def test_the_ends_are_the_quantiles_numpy_computes() -> None:
    values = np.random.default_rng(0).normal(size=(501, 3))

    bounds = percentile_bounds(values, confidence=0.9)

    assert bounds.low == pytest.approx(np.quantile(values, 0.05, axis=0), rel=1e-14)
    assert bounds.high == pytest.approx(np.quantile(values, 0.95, axis=0), rel=1e-14)


def test_undefined_draws_are_left_out() -> None:
    values = np.random.default_rng(1).normal(size=(1_000, 2))
    values[:250, 0] = np.nan

    bounds = percentile_bounds(values, confidence=0.95)

    assert bounds.low == pytest.approx(np.nanquantile(values, 0.025, axis=0), rel=1e-14)
    assert bounds.high == pytest.approx(np.nanquantile(values, 0.975, axis=0), rel=1e-14)


def test_without_a_defined_draw_there_is_no_interval() -> None:
    bounds = percentile_bounds(np.full(10, np.nan), confidence=0.95)

    assert bounds.at() == (None, None)


def test_draws_that_tend_to_infinity_count_as_large_ones() -> None:
    values = np.arange(100.0)
    values[95:] = np.inf

    bounds = percentile_bounds(values, confidence=0.95)

    low, high = bounds.at()
    assert low == pytest.approx(2.475)
    assert high is None
    assert np.isposinf(bounds.high)


def test_an_end_between_a_number_and_infinity_is_open() -> None:
    values = np.array([0.0, 1.0, 2.0, np.inf])

    bounds = percentile_bounds(values, confidence=0.5)

    assert bounds.low == pytest.approx(0.75)
    assert np.isposinf(bounds.high)


def test_a_quotient_that_tends_to_infinity_is_told_from_an_undefined_one() -> None:
    code = np.uint8(1 + REASONS.index(Reason.POSITIVE_OVER_ZERO))
    quantity = Quantity(
        np.array([1.0, np.nan, np.nan]),
        np.array([0, code, 1], np.uint8),
        np.array([0, 1, 0], bool),
    )

    values = replicated(quantity)

    assert values[0] == 1.0
    assert np.isposinf(values[1])
    assert np.isnan(values[2])
