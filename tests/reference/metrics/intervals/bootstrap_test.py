"""Resampling of samples as an oracle for resampling of counts."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.intervals.resampling import bootstrap, replicated
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.suite import evaluate_stack

QUANTILES = [0.025, 0.25, 0.5, 0.75, 0.975]
REPLICATES = 6_000

Codes: TypeAlias = NDArray[np.uint8]
Runs: TypeAlias = tuple[Codes, Codes]
Values: TypeAlias = dict[str, NDArray[np.float64]]


def values(stack: NDArray[np.int64]) -> Values:
    found = evaluate_stack(stack, ordinal=False).aggregate
    return {key: replicated(found[key]) for key in ("mcc", "macro_f1")}


@pytest.fixture(scope="module")
def runs() -> Runs:
    rng = np.random.default_rng(0)
    actual = rng.choice(3, size=250, p=[0.6, 0.3, 0.1])
    first = np.where(rng.random(250) < 0.75, actual, rng.integers(0, 3, 250))
    return actual.astype(np.uint8), first.astype(np.uint8)


@pytest.fixture(scope="module")
def resampled(runs: Runs) -> Values:
    """Values over resamples of the samples."""
    actual, predicted = runs
    drawn = np.random.default_rng(1).integers(0, 250, (REPLICATES, 250))
    stack = [count_pairs(actual[rows], predicted[rows], n_classes=3) for rows in drawn]
    return values(np.stack(stack))


@pytest.mark.parametrize("key", ["mcc", "macro_f1"])
def test_a_bootstrap_of_cells_has_the_quantiles_of_one_of_cases(
    runs: Runs,
    resampled: Values,
    key: str,
) -> None:
    counts = count_pairs(runs[0], runs[1], n_classes=3)

    found = bootstrap(counts, values, seed=2, replicates=REPLICATES)[key]

    spread = resampled[key].std()
    assert np.quantile(found, QUANTILES) == pytest.approx(
        np.quantile(resampled[key], QUANTILES), abs=0.1 * spread
    )
