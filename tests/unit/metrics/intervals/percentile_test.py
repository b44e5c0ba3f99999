"""Percentile intervals when some replicates are undefined or unbounded."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import Reason
from offdiag.metrics.intervals.bootstrap import (
    percentile_intervals,
    percentile_intervals_by_key,
)
from offdiag.metrics.intervals.percentile import percentile_bounds, replicated
from offdiag.metrics.quantity import Quantity, reason_code


def test_the_ends_are_the_quantiles_numpy_computes() -> None:
    values = np.random.default_rng(0).normal(size=(501, 3))

    bounds, undefined = percentile_bounds(values, confidence=0.9)

    assert bounds.low == pytest.approx(np.quantile(values, 0.05, axis=0), rel=1e-14)
    assert bounds.high == pytest.approx(np.quantile(values, 0.95, axis=0), rel=1e-14)
    assert undefined.tolist() == [0.0, 0.0, 0.0]


def test_undefined_replicates_are_left_out_and_their_share_is_told() -> None:
    values = np.random.default_rng(1).normal(size=(1_000, 2))
    values[:250, 0] = np.nan

    bounds, undefined = percentile_bounds(values, confidence=0.95)

    assert bounds.low == pytest.approx(np.nanquantile(values, 0.025, axis=0), rel=1e-14)
    assert bounds.high == pytest.approx(np.nanquantile(values, 0.975, axis=0), rel=1e-14)
    assert undefined.tolist() == [0.25, 0.0]


def test_without_a_defined_replicate_there_is_no_interval() -> None:
    bounds, undefined = percentile_bounds(np.full(10, np.nan), confidence=0.95)

    assert bounds.at() == (None, None)
    assert undefined == 1.0


def test_replicates_that_tend_to_infinity_count_as_large_ones() -> None:
    values = np.arange(100.0)
    values[95:] = np.inf

    bounds, undefined = percentile_bounds(values, confidence=0.95)

    low, high = bounds.at()
    assert low == pytest.approx(2.475)
    assert high is None
    assert np.isposinf(bounds.high)
    assert undefined == 0.0


def test_an_end_between_a_number_and_infinity_is_open() -> None:
    values = np.array([0.0, 1.0, 2.0, np.inf])

    bounds, _ = percentile_bounds(values, confidence=0.5)

    assert bounds.low == pytest.approx(0.75)
    assert np.isposinf(bounds.high)


def test_a_quotient_that_tends_to_infinity_is_told_from_an_undefined_one() -> None:
    code = np.uint8(reason_code(Reason.POSITIVE_OVER_ZERO))
    quantity = Quantity(
        np.array([1.0, np.nan, np.nan]),
        np.array([0, code, 1], np.uint8),
        np.array([0, 1, 0], bool),
    )

    values = replicated(quantity)

    assert values[0] == 1.0
    assert np.isposinf(values[1])
    assert np.isnan(values[2])


def test_many_metrics_at_once_have_the_intervals_they_have_alone() -> None:
    rng = np.random.default_rng(3)
    values = {
        "one": rng.normal(size=400),
        "flat": np.full(400, 0.5),
        "classes": rng.normal(size=(400, 3)),
        "limits": np.where(rng.random((400, 2)) < 0.3, np.inf, rng.random((400, 2))),
        "partly undefined": np.where(rng.random(400) < 0.4, np.nan, rng.random(400)),
    }
    estimates = {
        "classes": np.array([0.0, np.nan, 9.0]),
        "one": np.array(0.1),
        "flat": np.array(0.5),
        "limits": np.array([0.5, 0.5]),
        "partly undefined": np.array(0.4),
    }

    found = percentile_intervals_by_key(
        values, estimates=estimates, confidence=0.95, method="drawn"
    )

    assert list(found) == list(estimates)
    for key, estimate in estimates.items():
        alone = percentile_intervals(
            values[key], estimate=estimate, confidence=0.95, method="drawn"
        )
        assert np.array_equal(found[key].bounds.low, alone.bounds.low, equal_nan=True)
        assert np.array_equal(found[key].bounds.high, alone.bounds.high, equal_nan=True)
        assert np.array_equal(found[key].undefined_share, alone.undefined_share)
        assert found[key].notes == alone.notes
    assert {key for key in found if found[key].notes} == {"classes", "flat", "limits"}


def test_without_metrics_there_is_nothing_to_resample() -> None:
    assert percentile_intervals_by_key({}, estimates={}, confidence=0.95, method="drawn") == {}
