"""The multinomial draw of cells: the same law as drawing cases, at any size."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.intervals import resampling
from offdiag.metrics.intervals.resampling import (
    CASES_PER_CELL,
    FEWEST_REPLICATES,
    MOST_DRAWS,
    NUMBERS_PER_DRAW,
    affordable,
    batches,
    bootstrap_name,
    generator,
    resampled_cases,
    resampled_counts,
    resampled_matrices,
)

SMALL = np.array([[2, 0, 1], [0, 1, 0], [0, 1, 0]])


def law_of_row_resampling(counts: NDArray[np.int64]) -> dict[tuple[int, ...], Fraction]:
    """Exact probability of each resampled matrix, by listing all N^N resamples of the cases."""
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


ONE_BY_ONE = np.ones(4, np.int64)
IN_CELLS = np.array([3, 1, 2], np.int64)


def resamples(counts: NDArray[np.int64], *, replicates: int, seed: int = 1) -> NDArray[np.float64]:
    parts = resampled_cases(counts, replicates=replicates, rng=generator(seed))
    return np.concatenate([drawn for _, drawn in parts])


@pytest.mark.parametrize("counts", [ONE_BY_ONE, IN_CELLS, np.array([900, 100])])
def test_each_resample_has_as_many_cases(counts: NDArray[np.int64]) -> None:
    drawn = resamples(counts, replicates=50)

    assert drawn.shape == (50, len(counts))
    assert set(drawn.sum(axis=1)) == {counts.sum()}
    assert (drawn == np.floor(drawn)).all()


@pytest.mark.parametrize("counts", [ONE_BY_ONE, IN_CELLS])
def test_resamples_follow_the_law_of_drawing_cases_with_replacement(
    counts: NDArray[np.int64],
) -> None:
    kinds = np.repeat(np.arange(len(counts)), counts)
    law = Counter(
        tuple(np.bincount(kinds[list(indices)], minlength=len(counts)).tolist())
        for indices in product(range(len(kinds)), repeat=len(kinds))
    )
    replicates = 40_000

    found = Counter(tuple(row) for row in resamples(counts, replicates=replicates).tolist())

    assert found.keys() == law.keys()
    for cells, ways in law.items():
        share = ways / len(kinds) ** len(kinds)
        error = np.sqrt(share * (1 - share) / replicates)
        assert found[cells] / replicates == pytest.approx(share, abs=4.5 * error)


def test_cells_with_many_cases_follow_the_multinomial_law() -> None:
    counts = np.array([30, 10], np.int64)
    assert counts.sum() > CASES_PER_CELL * len(counts)
    replicates = 40_000

    found = Counter(resamples(counts, replicates=replicates)[:, 0].tolist())

    for hits in (26, 30, 34):
        ways = factorial(40) / prod(factorial(part) for part in (hits, 40 - hits))
        share = ways * 0.75**hits * 0.25 ** (40 - hits)
        assert found[hits] / replicates == pytest.approx(share, rel=0.08)


def test_the_same_seed_repeats_every_resample() -> None:
    first, again, other = (resamples(IN_CELLS, replicates=60, seed=seed) for seed in (1, 1, 2))

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_batches_number_the_replicates_without_gap() -> None:
    counts = np.ones(200_000, np.int64)

    parts = [part for part, _ in resampled_cases(counts, replicates=5, rng=generator(1))]

    assert [number for part in parts for number in range(part.start, part.stop)] == [0, 1, 2, 3, 4]
    assert len(parts) > 1


@pytest.mark.parametrize(
    ("n_cases", "wanted", "taken"),
    [
        (1_000, 2_000, 2_000),
        (MOST_DRAWS // 500, 2_000, 500),
        (MOST_DRAWS, 2_000, FEWEST_REPLICATES),
        (MOST_DRAWS, 50, 50),
    ],
)
def test_many_cases_are_resampled_less_often_but_often_enough(
    n_cases: int, wanted: int, taken: int
) -> None:
    assert affordable(wanted, np.ones(n_cases, np.int64)) == taken


def test_many_cases_of_few_kinds_are_no_more_work_than_few() -> None:
    assert affordable(2_000, np.array([10**9, 10**9])) == 2_000


def test_many_numbers_for_each_resample_are_work_too() -> None:
    few = np.array([5, 5])

    assert affordable(2_000, few, n_numbers=NUMBERS_PER_DRAW * MOST_DRAWS // 400) == 400


def test_the_method_says_how_many_resamples_were_taken() -> None:
    assert bootstrap_name(300) == "row bootstrap, 300 replicates"
    assert bootstrap_name(300, reflected=True) == "row bootstrap, reflected, 300 replicates"
