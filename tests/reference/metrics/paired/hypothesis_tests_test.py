"""statsmodels and scipy as oracles for tests of several runs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest, false_discovery_control, norm
from statsmodels.stats.contingency_tables import SquareTable, cochrans_q
from statsmodels.stats.contingency_tables import mcnemar as oracle_mcnemar
from statsmodels.stats.multitest import multipletests

from offdiag.metrics.paired.hypothesis_tests import (
    benjamini_hochberg,
    bowker,
    cochran_of_counts,
    cochran_q,
    holm,
    mcnemar,
    stuart_maxwell,
)
from offdiag.metrics.paired.scores import delong

DISCORDANT = [(1, 0), (7, 1), (12, 30), (250, 201), (40_000, 41_000)]


@pytest.mark.parametrize(("b", "c"), DISCORDANT)
def test_mcnemar_agrees_with_statsmodels_and_scipy(b: int, c: int) -> None:
    found = mcnemar(b, c)

    table = [[5, b], [c, 5]]
    plain = oracle_mcnemar(table, exact=False, correction=False)
    corrected = oracle_mcnemar(table, exact=False, correction=True)
    assert found.exact_p == pytest.approx(binomtest(b, b + c).pvalue, rel=1e-9)
    assert found.mid_p == pytest.approx(
        2 * binom.cdf(min(b, c), b + c, 0.5) - binom.pmf(min(b, c), b + c, 0.5), rel=1e-6
    )
    assert (found.chi2, found.chi2_p) == pytest.approx((plain.statistic, plain.pvalue), rel=1e-9)
    assert (found.chi2_cc, found.chi2_cc_p) == pytest.approx(
        (corrected.statistic, corrected.pvalue), rel=1e-9
    )


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_symmetry_and_margins_agree_with_statsmodels(n_classes: int) -> None:
    table = np.random.default_rng(n_classes).integers(1, 40, (n_classes, n_classes))
    oracle = SquareTable(table, shift_zeros=False)

    symmetry, margins = bowker(table), stuart_maxwell(table)

    assert symmetry.chi2 == pytest.approx(oracle.symmetry().statistic, rel=1e-10)
    assert symmetry.p == pytest.approx(oracle.symmetry().pvalue, rel=1e-9)
    assert margins.chi2 == pytest.approx(oracle.homogeneity().statistic, rel=1e-9)
    assert margins.p == pytest.approx(oracle.homogeneity().pvalue, rel=1e-8)
    assert (symmetry.df, margins.df) == (oracle.symmetry().df, oracle.homogeneity().df)


@pytest.mark.parametrize("n_runs", [2, 5])
def test_cochran_agrees_with_statsmodels(n_runs: int) -> None:
    correct = np.random.default_rng(n_runs).random((200, n_runs)) < np.linspace(0.6, 0.8, n_runs)

    found = cochran_q(correct)

    oracle = cochrans_q(correct.astype(int))
    assert (found.q, found.p) == pytest.approx((oracle.statistic, oracle.pvalue), rel=1e-10)
    assert found.df == oracle.df


def test_cochran_of_two_times_five_copies_is_mcnemars_test() -> None:
    """Copies add nothing; by Cochran's distribution two such runs differ in 20 % of data sets."""
    first, second = np.random.default_rng(4).random((2, 300)) < 0.8
    correct = np.array([first] * 5 + [second] * 5, dtype=np.int64)

    found = cochran_of_counts(np.inner(correct, correct))

    test = mcnemar(int((first & ~second).sum()), int((second & ~first).sum()))
    assert found.p == pytest.approx(test.chi2_p, rel=1e-9)
    plain = cochran_q(correct.T)
    assert found.q == pytest.approx(plain.q)
    assert found.df == plain.df
    assert (plain.p or 0) < (found.p or 0)


def test_cochran_of_runs_that_are_equally_alike_is_as_it_was() -> None:
    # Each pattern of three runs is there as often for one of them as for another.
    patterns = [*([(1, 0, 0), (0, 1, 0), (0, 0, 1)] * 7), *([(1, 1, 0), (0, 1, 1), (1, 0, 1)] * 4)]
    correct = np.array(patterns, dtype=np.int64)

    found = cochran_of_counts(np.inner(correct.T, correct.T))

    assert found.p == pytest.approx(cochran_q(correct).p)


def test_adjusted_p_values_agree_with_statsmodels_and_scipy() -> None:
    p = np.random.default_rng(0).random(40) ** 3
    p[5] = p[6]

    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], rel=1e-14)
    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p), rel=1e-14)


def test_delong_follows_from_the_covariance_of_all_pairs() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random(150) < 0.35
    scores = [np.round(rng.normal(size=150) + shift * truth, 1) for shift in (0.7, 1.2)]
    kernels = [
        (score[truth][:, None] > score[~truth]) + 0.5 * (score[truth][:, None] == score[~truth])
        for score in scores
    ]
    areas = [kernel.mean() for kernel in kernels]
    of_positives = np.cov([kernel.mean(axis=1) for kernel in kernels]) / truth.sum()
    of_negatives = np.cov([kernel.mean(axis=0) for kernel in kernels]) / (~truth).sum()
    contrast = np.array([-1, 1])
    variance = contrast @ (of_positives + of_negatives) @ contrast
    z = (areas[1] - areas[0]) / np.sqrt(variance)

    found = delong(truth, *scores)

    assert (found.auc_a, found.auc_b) == pytest.approx(tuple(areas), rel=1e-12)
    assert found.standard_error == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert found.z == pytest.approx(z, rel=1e-9)
    assert found.p == pytest.approx(2 * norm.sf(abs(z)), rel=1e-9)
