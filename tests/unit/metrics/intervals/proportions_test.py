"""Wilson and Clopper-Pearson intervals: ends, coverage and refusals."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, sqrt

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.intervals.proportions import clopper_pearson, normal_quantile, wilson

Method = Callable[..., Bounds]
METHODS = [wilson, clopper_pearson]


def exact_coverage(low: list[float], high: list[float], p: float) -> float:
    """Probability that the interval of X ~ Bin(n, p) holds p; ends are indexed by X."""
    n = len(low) - 1
    return sum(
        comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1) if low[x] <= p <= high[x]
    )


@pytest.mark.parametrize(
    ("n", "p", "of_wald", "of_wilson", "of_clopper_pearson"),
    [
        (5, 0.80, 0.666, 0.942, 0.993),
        (10, 0.95, 0.400, 0.914, 0.988),
        (20, 0.95, 0.639, 0.925, 0.984),
    ],
)
def test_small_samples_are_covered_where_the_textbook_interval_fails(
    n: int, p: float, of_wald: float, of_wilson: float, of_clopper_pearson: float
) -> None:
    hits = np.arange(n + 1)
    share = hits / n
    reach = 1.959963984540054 * np.sqrt(share * (1 - share) / n)

    found = {method: method(hits, n) for method in METHODS}

    assert exact_coverage((share - reach).tolist(), (share + reach).tolist(), p) == pytest.approx(
        of_wald, abs=5e-4
    )
    for method, coverage in ((wilson, of_wilson), (clopper_pearson, of_clopper_pearson)):
        bounds = found[method]
        assert exact_coverage(bounds.low.tolist(), bounds.high.tolist(), p) == pytest.approx(
            coverage, abs=5e-4
        )


def test_clopper_pearson_never_covers_less_than_it_promises() -> None:
    n = 12
    bounds = clopper_pearson(np.arange(n + 1), n, confidence=0.9)
    ends = bounds.low.tolist(), bounds.high.tolist()

    coverages = [exact_coverage(*ends, p) for p in np.linspace(0.001, 0.999, 400)]

    assert min(coverages) >= 0.9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [1, 5, 1000, 10**16])
def test_no_hits_and_only_hits_reach_the_border_exactly(method: Method, n: int) -> None:
    none, every = method(0, n), method(n, n)

    assert none.low == 0.0
    assert every.high == 1.0
    assert 0.0 < none.high < 1.0 or n == 10**16
    assert none.high == pytest.approx(1.0 - every.low, abs=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_without_cases_there_is_no_interval(method: Method) -> None:
    alone, among_others = method(0, 0), method([0, 1], [0, 2])

    assert alone.at() == (None, None)
    assert among_others.at(0) == (None, None)
    assert None not in among_others.at(1)


def test_one_hit_in_1e16_cases_keeps_its_digits() -> None:
    # For rare hits both intervals tend to those of a Poisson mean of 1: Wilson solves
    # (m - 1)^2 = z^2 m, and Clopper-Pearson inverts exp(-m) (1 + m) = 0.025.
    z_squared = 1.959963984540054**2
    middle, spread = 1 + z_squared / 2, sqrt(z_squared * (1 + z_squared / 4))

    score, exact = wilson(1, 10**16), clopper_pearson(1, 10**16)

    assert score.low * 1e16 == pytest.approx(middle - spread, rel=1e-12)
    assert score.high * 1e16 == pytest.approx(middle + spread, rel=1e-12)
    assert exact.low * 1e16 == pytest.approx(0.025317807984289897, rel=1e-9)
    assert exact.high * 1e16 == pytest.approx(5.571643390938898, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_more_hits_than_cases_look_like_swapped_arguments(method: Method) -> None:
    with pytest.raises(InvalidInput, match="5 hits in 3 cases") as caught:
        method([1, 5], [2, 3])

    assert caught.value.field == "x"
    assert "swapped" in str(caught.value)


@pytest.mark.parametrize("method", METHODS)
def test_arrays_that_do_not_fit_are_refused(method: Method) -> None:
    with pytest.raises(InvalidInput, match=r"x has shape \(2,\), n has shape \(3,\)"):
        method([1, 1], [2, 3, 4])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_a_confidence_outside_0_and_1_is_refused(method: Method, confidence: float) -> None:
    with pytest.raises(InvalidInput, match=r"Write 95 % as 0\.95"):
        method(1, 2, confidence=confidence)


@pytest.mark.parametrize(
    ("confidence", "z"),
    [(0.9, 1.6448536269514722), (0.95, 1.959963984540054), (0.99, 2.5758293035489004)],
)
def test_quantiles_leave_half_of_the_rest_on_either_side(confidence: float, z: float) -> None:
    assert normal_quantile(confidence) == pytest.approx(z, rel=1e-15)
