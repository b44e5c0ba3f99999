"""McNemar's test: published figures, ties, and no discordance."""

from __future__ import annotations

from math import comb
from typing import Any

import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.paired.mcnemar import mcnemar


def test_airway_reactivity_of_21_children_is_as_published() -> None:
    # Fagerland, Lydersen and Laake (2013), section on the data of Bentur et al. (2009).
    found = mcnemar(7, 1)

    assert found.exact_p == pytest.approx(0.0703, abs=5e-5)
    assert found.mid_p == pytest.approx(0.0391, abs=5e-5)
    assert found.chi2_p == pytest.approx(0.0339, abs=5e-5)
    assert found.chi2_cc_p == pytest.approx(0.0771, abs=5e-5)


def test_without_a_discordant_pair_nothing_differs() -> None:
    found = mcnemar(0, 0)

    assert (found.exact_p, found.mid_p) == (1.0, 1.0)
    assert (found.chi2, found.chi2_p, found.chi2_cc, found.chi2_cc_p) == (None,) * 4
    assert found.reason == "no_discordant_pairs"


@pytest.mark.parametrize("count", [1, 5, 1000])
def test_equal_counts_are_no_evidence_even_with_a_correction(count: int) -> None:
    found = mcnemar(count, count)

    assert (found.exact_p, found.mid_p) == (1.0, 1.0)
    assert (found.chi2, found.chi2_cc, found.chi2_cc_p) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(("b", "c"), [(10, 2), (0, 6), (13, 9), (25, 40)])
def test_exact_p_sums_the_binomial_tail(b: int, c: int) -> None:
    n, smaller = b + c, min(b, c)
    tail = sum(comb(n, x) for x in range(smaller + 1)) / 2**n
    observed = comb(n, smaller) / 2**n

    found = mcnemar(b, c)

    assert found.exact_p == pytest.approx(min(1.0, 2 * tail), rel=1e-12)
    assert found.mid_p == pytest.approx(2 * tail - observed, rel=1e-12)


def test_which_run_comes_first_does_not_matter() -> None:
    forward, backward = mcnemar(12, 5), mcnemar(5, 12)

    assert (forward.exact_p, forward.mid_p, forward.chi2) == (
        backward.exact_p,
        backward.mid_p,
        backward.chi2,
    )
    assert (forward.only_first, forward.only_second) == (12, 5)


def test_counts_of_1e15_keep_their_p_value() -> None:
    # At this size the exact test is the normal one: z = 1e8 / sqrt(2e15).
    found = mcnemar(10**15, 10**15 + 10**8)

    assert found.exact_p == pytest.approx(0.02534732, rel=1e-6)
    assert found.chi2_p == pytest.approx(0.02534732, rel=1e-6)


@pytest.mark.parametrize(("b", "c", "field"), [(-1, 2, "b"), (1, 2.5, "c"), ("3", 1, "b")])
def test_what_is_no_count_is_refused(b: Any, c: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        mcnemar(b, c)

    assert caught.value.field == field
