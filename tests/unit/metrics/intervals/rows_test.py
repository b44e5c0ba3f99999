"""Bootstrap of the cases themselves."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.intervals.resampling import generator
from offdiag.metrics.intervals.rows import (
    CASES_PER_CELL,
    FEWEST_REPLICATES,
    MOST_DRAWS,
    NUMBERS_PER_DRAW,
    affordable,
    bootstrap_name,
    resampled_cases,
)

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
