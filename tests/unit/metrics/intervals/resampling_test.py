"""The multinomial draw of cells: the same law as drawing cases, at any size."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.intervals import resampling
from offdiag.metrics.intervals.resampling import (
    batches,
    generator,
    percentile_bounds,
    percentile_intervals,
    percentile_intervals_by_key,
    replicated,
    resampled_counts,
    resampled_matrices,
)
from offdiag.metrics.quantity import REASONS, Quantity

SMALL = np.array([[2, 0, 1], [0, 1, 0], [0, 1, 0]])


def law_of_row_resampling(counts: NDArray[np.int64]) -> dict[tuple[int, ...], Fraction]:
    """Exact probability of each resampled matrix, by listing all N^N resamples of the samples."""
    cases = np.repeat(np.arange(counts.size), counts.ravel())
    n = len(cases)
    found = Counter(
        tuple(np.bincount(cases[list(drawn)], minlength=counts.size).tolist())
        for drawn in product(range(n), repeat=n)
    )
    return {cells: Fraction(times, n**n) for cells, times in found.items()}


def multinomial_probability(cells: tuple[int, ...], counts: NDArray[np.int64]) -> Fraction:
    n = int(counts.sum())
    ways = Fraction(factorial(n), prod(factorial(cell) for cell in cells))
    chances = zip(counts.ravel().tolist(), cells, strict=True)
    return ways * prod((Fraction(count, n) ** cell for count, cell in chances), start=Fraction(1))


def test_drawing_cases_is_a_multinomial_of_cells_as_fractions() -> None:
    law = law_of_row_resampling(SMALL)

    assert sum(law.values()) == 1
    assert len(law) == 56
    for cells, probability in law.items():
        assert probability == multinomial_probability(cells, SMALL)


def test_resampled_matrices_follow_the_law_of_row_resampling() -> None:
    law = law_of_row_resampling(SMALL)
    replicates = 40_000

    found: Counter[tuple[int, ...]] = Counter()
    for _, stack in resampled_matrices(SMALL, replicates=replicates, rng=generator(1)):
        found.update(tuple(matrix.ravel().tolist()) for matrix in stack)

    assert set(found) <= set(law)
    chi_square = sum(
        (found[cells] - replicates * float(chance)) ** 2 / (replicates * float(chance))
        for cells, chance in law.items()
    )
    # The 99.9 % point of chi-square with 55 degrees of freedom is 93.2.
    assert chi_square < 93.2


def test_the_same_seed_gives_the_same_bits_and_another_one_does_not() -> None:
    counts = np.array([50, 3, 47])

    first, again, other = (
        resampled_counts(counts, replicates=20, rng=generator(seed)) for seed in (7, 7, 8)
    )

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_every_resample_has_as_many_cases_and_no_new_cells() -> None:
    counts = np.array([[500, 0, 3], [0, 90, 0], [1, 2, 400]])

    stacks = [stack for _, stack in resampled_matrices(counts, replicates=300, rng=generator(3))]

    together = np.concatenate(stacks)
    assert together.shape == (300, 3, 3)
    assert (together.sum(axis=(1, 2)) == counts.sum()).all()
    assert not together[:, counts == 0].any()


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="numpy 1.26 draws a cell of 7 in 1e15 with a mean of 6.91",
)
def test_a_cell_of_five_among_1e15_cases_keeps_its_rate() -> None:
    # Next to 1e15 the probability 5e-15 would be lost in what a running sum leaves over.
    counts = np.array([10**15, 5, 7])

    drawn = resampled_counts(counts, replicates=20_000, rng=generator(11))

    assert drawn[:, 1].mean() == pytest.approx(5, abs=4 * np.sqrt(5 / 20_000))
    assert drawn[:, 1].var() == pytest.approx(5, rel=0.06)
    assert drawn[:, 2].mean() == pytest.approx(7, abs=4 * np.sqrt(7 / 20_000))


@pytest.mark.parametrize("n_cells", [1, 100, 10**6, 10**9])
def test_batches_cover_all_replicates_and_stay_small(n_cells: int) -> None:
    parts = list(batches(2_000, n_cells=n_cells))

    assert [index for part in parts for index in range(part.start, part.stop)] == list(
        range(2_000)
    )
    assert all(
        part.stop - part.start == 1
        or (part.stop - part.start) * n_cells <= resampling.CELLS_PER_BATCH
        for part in parts
    )


def test_the_size_of_batches_does_not_change_a_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.array([[500, 0, 3], [0, 90, 0], [1, 2, 400]])
    at_once = next(resampled_matrices(counts, replicates=50, rng=generator(3)))[1]
    monkeypatch.setattr(resampling, "CELLS_PER_BATCH", 9 * 7)

    in_parts = [stack for _, stack in resampled_matrices(counts, replicates=50, rng=generator(3))]

    assert len(in_parts) == 8
    assert np.array_equal(np.concatenate(in_parts), at_once)


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
