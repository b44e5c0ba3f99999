"""The rules written down one by one with scipy and scikit-learn, beside the vectorised ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import SupportsInt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, binom, binomtest
from sklearn.metrics import cohen_kappa_score, f1_score, matthews_corrcoef
from statsmodels.stats.proportion import proportion_confint

from offdiag.flags import rule_evaluation
from offdiag.flags.assessment import assess
from offdiag.flags.rules import MATRIX_RULES
from support.matrices import matrix_of

Counts = NDArray[np.int64]


def by_definition(counts: Counts) -> Iterator[tuple[str, int | None]]:
    """(rule, class code) of every verdict on a matrix in which all classes have cases."""
    for rule in about_the_run(counts):
        yield rule, None
    for code in range(len(counts)):
        for rule in about_found_cases(counts, code):
            yield rule, code
        for rule in about_predictions(counts, code):
            yield rule, code


def about_the_run(counts: Counts) -> Iterator[str]:
    t, p, c = counts.sum(axis=1), counts.sum(axis=0), np.diag(counts)
    k, accuracy = len(counts), share(c.sum(), counts.sum())
    balanced = sum(share(c[code], t[code]) for code in range(k)) / k
    actual, predicted = pairs(counts)
    if np.count_nonzero(p) == 1 and Fraction(1, 2) ** int(t.sum() - t[p.argmax()]) <= 0.05:
        yield "F1"
    majority = int(t.argmax())
    gains, losses = int(c.sum() - c[majority]), int(t[majority] - c[majority])
    adjusted = (balanced - Fraction(1, k)) / (1 - Fraction(1, k))
    if one_sided(gains, gains + losses) > 0.05 and adjusted < 0.5:
        yield "F5"
    if accuracy - balanced >= Fraction("0.15"):
        yield "F6"
    if accuracy - f1_score(actual, predicted, average="macro", zero_division=0) >= 0.15:
        yield "F7"
    if accuracy >= Fraction("0.8") and (
        np.count_nonzero(p) == 1
        or matthews_corrcoef(actual, predicted) <= 0.3
        or cohen_kappa_score(actual, predicted) <= 0.2
    ):
        yield "F8"


def about_found_cases(counts: Counts, code: int) -> Iterator[str]:
    t, c, k = counts.sum(axis=1), np.diag(counts), len(counts)
    is_no_bad_luck = 0.5 ** t[code] <= 0.05 / k
    if counts[:, code].sum() == 0 and is_no_bad_luck:
        yield "F2"
    if c[code] == 0 and is_no_bad_luck:
        yield "F3"
    others = int(c.sum() - c[code]), int(counts.sum() - t[code])
    yield from gap(int(c[code]), int(t[code]), others, k)
    low, high = proportion_confint(c[code], t[code], method="wilson")
    if t[code] < 30 or (high - low) / 2 > 0.15:
        yield "F12"


def gap(c: int, t: int, others: tuple[int, int], k: int) -> Iterator[str]:
    """F4 with its severity; `others` are the hits and samples of the other classes."""
    proved, worse, rest = 0.05 / k, 0.01 / k, share(*others)
    capped = float(min(rest, Fraction("0.95")))
    if rest - Fraction(c, t) >= Fraction("0.2") and tail(c, t, others, 0.2) <= proved:
        yield "F4 critical" if tail(c, t, others, 0.4) <= proved else "F4 high"
        return
    is_possible = rest >= Fraction("0.2") and binom.sf(c - 1, t, capped - 0.2) > proved
    if tail(c, t, others, 0.0) <= worse and is_possible:
        yield "F4 medium"


MIDDLES = (np.arange(4000) + 0.5) / 4000


def tail(c: int, t: int, others: tuple[int, int], below: float) -> float:
    """P(X <= c), averaged over the recall of the others where it is 5 % or less at that found."""
    hits, cases = others
    found = binom.cdf(c, t, max(min(hits / cases, 0.95) - below, 0.0))
    if found > 0.05:
        return float(found)
    recalls = recalls_of(hits, cases)
    shares = np.maximum(np.minimum(recalls, 0.95) - below, 0.0)
    return float(np.mean(binom.cdf(c, t, shares)))


@lru_cache(maxsize=1)
def recalls_of(hits: int, cases: int) -> NDArray[np.float64]:
    """Equally likely recalls of the others, which a class is held against up to three times."""
    recalls: NDArray[np.float64] = beta.ppf(MIDDLES, hits + 0.5, cases - hits + 0.5)
    return recalls


def about_predictions(counts: Counts, code: int) -> Iterator[str]:
    n, k = int(counts.sum()), len(counts)
    accuracy = share(np.trace(counts), n)
    t, p, c = counts[code].sum(), counts[:, code].sum(), counts[code, code]
    is_rare = k * t < n
    if accuracy >= Fraction("0.8") and is_rare and p >= 5 and binom.cdf(c, p, 0.5) <= 0.01 / k:
        yield "F9"
    if p < t / 2 and one_sided(int(t - c), int(t + p - 2 * c)) <= 0.01 / k:
        yield "F10"


def share(part: SupportsInt, whole: SupportsInt) -> Fraction:
    return Fraction(int(part), int(whole))


def one_sided(hits: int, tosses: int) -> float:
    return float(binomtest(hits, tosses, 0.5, alternative="greater").pvalue) if tosses else 1.0


def pairs(counts: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    actual, predicted = np.indices(counts.shape).reshape(2, -1)
    return np.repeat(actual, counts.ravel()), np.repeat(predicted, counts.ravel())


def random_counts(rng: np.random.Generator) -> Counts:
    """Matrices around the thresholds: few to many classes, skewed, some classes failing."""
    size = int(rng.integers(2, 6))
    shares = rng.dirichlet(np.full(size, rng.choice([0.4, 1.0, 5.0])))
    support = np.maximum(1, np.round(shares * rng.choice([60, 300, 3000]))).astype(int)
    if rng.random() < 0.05:
        collapsed = np.zeros((size, size), np.int64)
        collapsed[:, support.argmax()] = support
        return collapsed
    rows = []
    for code, cases in enumerate(support):
        recall = rng.choice([0.0, 0.1, 0.4, 0.7, 0.9, 0.99])
        towards = rng.dirichlet(np.full(size, 0.5))
        towards[code] = 0.0
        chances = (1 - recall) * towards / towards.sum()
        chances[code] = recall
        rows.append(rng.multinomial(cases, chances))
    return np.array(rows, np.int64)


def test_random_matrices_get_the_verdicts_of_the_definitions() -> None:
    rng = np.random.default_rng(2026)
    fired: Counter[str] = Counter()
    for _ in range(200):
        counts = random_counts(rng)

        found = {
            (
                f"F4 {verdict.severity}" if verdict.rule == "F4" else verdict.rule,
                None if verdict.class_label is None else int(verdict.class_label),
            )
            for verdict in assess(matrix_of(counts)).verdicts
        }

        assert found == set(by_definition(counts)), counts.tolist()
        fired.update(rule for rule, _ in found)
    # Agreement says little about a rule that the sample never made fire.
    assert set(fired) == set(MATRIX_RULES) - {"F4"} | {"F4 medium", "F4 high", "F4 critical"}
    assert min(fired.values()) >= 3


@pytest.mark.parametrize("cases", [1, 2, 17, 400, 100_000])
@pytest.mark.parametrize("probability", [0.001, 0.5, 0.95])
def test_tails_are_those_of_scipy(cases: int, probability: float) -> None:
    hits = np.unique(np.linspace(0, cases, 23).astype(int))

    np.testing.assert_allclose(
        rule_evaluation.at_most(hits, cases, probability),
        binom.cdf(hits, cases, probability),
        rtol=1e-9,
    )
    np.testing.assert_allclose(
        rule_evaluation.at_least(hits, cases, probability),
        binom.sf(hits - 1, cases, probability),
        rtol=1e-9,
    )


@pytest.mark.parametrize("cases", [1, 6, 40])
@pytest.mark.parametrize("probability", [Fraction(1, 20), Fraction(1, 2), Fraction(3, 4)])
def test_tails_are_exact_fractions(cases: int, probability: Fraction) -> None:
    shares = [
        comb(cases, hits) * probability**hits * (1 - probability) ** (cases - hits)
        for hits in range(cases + 1)
    ]
    for hits in range(cases + 1):
        below, above = sum(shares[: hits + 1]), sum(shares[hits:])

        assert rule_evaluation.at_most(hits, cases, float(probability)) == pytest.approx(
            float(below)
        )
        assert rule_evaluation.at_least(hits, cases, float(probability)) == pytest.approx(
            float(above)
        )


def test_tails_without_cases_are_certain_and_unknown_ones_stay_unknown() -> None:
    assert rule_evaluation.at_most(0, 0, 0.5) == 1.0
    assert rule_evaluation.at_least(0, 0, 0.5) == 1.0
    assert np.isnan(rule_evaluation.at_most(3, 5, np.nan))
    assert np.isnan(rule_evaluation.at_least(3, 5, np.nan))
