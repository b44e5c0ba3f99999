"""Bootstrap of the cases themselves."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.intervals.rows import Multiplicities, row_bootstrap

LOSSES = np.random.default_rng(0).exponential(size=300)


def mean_loss(drawn: Multiplicities) -> float:
    return float(drawn @ LOSSES) / len(LOSSES)


def test_the_interval_of_a_mean_is_that_of_the_normal_law() -> None:
    interval = row_bootstrap(mean_loss, n_cases=300, seed=1, replicates=8_000)
    error = LOSSES.std() / np.sqrt(300)

    assert interval.low == pytest.approx(LOSSES.mean() - 1.96 * error, abs=0.25 * error)
    assert interval.high == pytest.approx(LOSSES.mean() + 1.96 * error, abs=0.25 * error)
    assert interval.method == "row bootstrap, 8000 replicates"


def test_the_same_seed_repeats_the_interval() -> None:
    first, again, other = (
        row_bootstrap(mean_loss, n_cases=300, seed=seed, replicates=50) for seed in (1, 1, 2)
    )

    assert first == again
    assert first != other


def test_each_resample_has_as_many_cases() -> None:
    totals = set()

    def total(drawn: Multiplicities) -> float:
        totals.add(int(drawn.sum()))
        return float(drawn[0])

    row_bootstrap(total, n_cases=25, seed=1, replicates=40)

    assert totals == {25}


def test_undefined_resamples_are_reported() -> None:
    # The one case of the class is missing in a share (1 - 1/20)^20 = 0.358 of resamples.
    def recall_of_first(drawn: Multiplicities) -> float | None:
        return float(drawn[1]) / drawn[0] if drawn[0] else None

    interval = row_bootstrap(recall_of_first, n_cases=20, seed=1)

    assert interval.undefined_share == pytest.approx(0.95**20, abs=0.04)


def test_an_undefined_statistic_has_no_interval() -> None:
    interval = row_bootstrap(lambda _: None, n_cases=5, seed=1, replicates=10)

    assert (interval.low, interval.high) == (None, None)


@pytest.mark.parametrize(("n_cases", "replicates"), [(0, 10), (5, 0), (-1, 10)])
def test_no_cases_or_replicates_are_refused(n_cases: int, replicates: int) -> None:
    with pytest.raises(InvalidInput):
        row_bootstrap(mean_loss, n_cases=n_cases, seed=1, replicates=replicates)
