"""Tests of paired classifications (McNemar, Cochran, Bowker, Stuart-Maxwell), adjusted p values.

Tests on a square table of paired classifications check for symmetry and for equal margins. With
the predictions of two runs along the two axes they say whether the runs favour different classes;
with actual and predicted class, whether a run over- or under-predicts some class. The results do
not depend on which of the two lies along which axis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.values import Reason
from offdiag.errors import InvalidInput
from offdiag.extras import optional
from offdiag.metrics.arguments import count_of, probabilities, square_table, zero_one
from offdiag.metrics.orientation import ACTUAL_AXIS, actual_totals, predicted_totals, swap_axes


@dataclass(frozen=True, slots=True)
class McNemar:
    """Result of McNemar's test on two runs of the same samples.

    `only_first` samples are right in the first run only, `only_second` in the second only. The
    p values are two-sided. The chi-square fields are None, with the reason beside them, if
    no sample distinguishes the runs; the exact p values are then 1.
    """

    only_first: int
    only_second: int
    exact_p: float
    mid_p: float
    chi2: float | None
    chi2_p: float | None
    chi2_cc: float | None
    chi2_cc_p: float | None
    reason: str | None


def mcnemar(b: int, c: int) -> McNemar:
    """Compare two runs by the samples that only one of them gets right.

    `b` samples are right in the first run and wrong in the second, `c` the reverse. Given b + c
    and no difference, b is binomial with probability 1/2 (McNemar 1947, Psychometrika 12,
    153): `exact_p` is twice its smaller tail, at most 1, and `mid_p` counts the observed
    outcome by half (Fagerland, Lydersen and Laake 2013, BMC Med. Res. Methodol. 13:91).
    `chi2` is (b-c)^2/(b+c) with one degree of freedom, `chi2_cc` the same with Edwards'
    correction, max(0, |b-c|-1)^2/(b+c), which never turns equal counts into evidence.

    Raises `InvalidInput` for counts that are negative or not whole.

    >>> mcnemar(10, 2).exact_p
    0.03857421875
    """
    with optional:
        from scipy.special import gammaincc

    first, second = count_of(b, field="b"), count_of(c, field="c")
    discordant, smaller = first + second, min(first, second)
    if discordant == 0:
        reason = Reason.NO_DISCORDANT_PAIRS.value
        return McNemar(0, 0, 1.0, 1.0, None, None, None, None, reason)
    tail = _fair_coin_tail(smaller, discordant)
    tail_without_observed = _fair_coin_tail(smaller - 1, discordant) if smaller else 0.0
    gap = abs(first - second)
    chi2 = gap * gap / discordant
    chi2_cc = max(0, gap - 1) ** 2 / discordant
    return McNemar(
        only_first=first,
        only_second=second,
        exact_p=min(1.0, 2.0 * tail),
        mid_p=min(1.0, tail + tail_without_observed),
        chi2=chi2,
        chi2_p=float(gammaincc(0.5, chi2 / 2)),
        chi2_cc=chi2_cc,
        chi2_cc_p=float(gammaincc(0.5, chi2_cc / 2)),
        reason=None,
    )


def mid_p_values(
    only_first: NDArray[np.int64], only_second: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The `mid_p` of `mcnemar` for many tables, arrays of one shape; 1 where both are 0."""
    with optional:
        from scipy.special import betainc

    discordant, smaller = only_first + only_second, np.minimum(only_first, only_second)
    larger = np.maximum(discordant - smaller, 1)
    tail = betainc(larger, smaller + 1, 0.5)
    without_observed = betainc(larger + 1, np.maximum(smaller, 1), 0.5)
    both = np.minimum(1.0, tail + np.where(smaller > 0, without_observed, 0.0))
    return np.where(discordant > 0, both, 1.0)


def _fair_coin_tail(heads: int, tosses: int) -> float:
    """P(X <= heads) of a fair coin, as the beta integral it equals.

    scipy's own binomial tail loses digits from a million tosses on and fails at 2**31.
    """
    with optional:
        from scipy.special import betainc

    return float(betainc(tosses - heads, heads + 1, 0.5))


SAMPLE_AXIS = 0
RUN_AXIS = 1


@dataclass(frozen=True, slots=True)
class CochranQ:
    """Result of Cochran's test. `q` and `p` are None if no sample distinguishes the runs."""

    q: float | None
    df: int
    p: float | None
    reason: str | None


def cochran_q(correct: ArrayLike) -> CochranQ:
    """Test whether k runs have the same accuracy on the same n samples.

    `correct` is (n, k): 1 or True where the run of that column gets the sample right.
    Q = (k-1)(k sum C_j^2 - T^2)/(k T - sum R_i^2) with column sums C, row sums R and total T,
    chi-square with k - 1 degrees of freedom (Cochran 1950, Biometrika 37, 256). For k = 2 it
    is McNemar's chi-square. Samples that all runs get right, or all wrong, do not matter.
    Raises `InvalidInput` for any other shape, fewer than two runs, or other values.
    """
    hits = zero_one(
        correct, field="correct", hint="Give 1 for a correct prediction and 0 for an error."
    )
    if hits.ndim != 2 or hits.shape[RUN_AXIS] < 2:
        raise InvalidInput(
            f"the shape is {hits.shape}.",
            field="correct",
            hint="Give one row for each example and one column for each of two or more runs.",
        )
    per_case = hits.sum(axis=RUN_AXIS, dtype=np.int64)
    per_run = hits.sum(axis=SAMPLE_AXIS, dtype=np.int64)
    return _cochran([int(count) for count in per_run], int((per_case * per_case).sum()))


def cochran_of_counts(both_right: NDArray[np.int64]) -> CochranQ:
    """Q from the number of samples that two runs both get right, (k, k) with k at least 2.

    Their sum is that of R_i^2, since R_i^2 counts the pairs of runs that get sample i right. `p`
    allows for some runs being more alike than others, such as checkpoints of one model: Cochran's
    distribution assumes that all pairs are equally alike, and under it two times five copies of
    equally good runs differ in 20 % of datasets. Without that assumption, Q times e is chi-square
    with e (k - 1) degrees of freedom, where e is 1 if all are equally alike (Box 1954, Ann. Math.
    Statist. 25, 290).
    """
    with optional:
        from scipy.special import gammaincc

    found = _cochran(np.diagonal(both_right).tolist(), int(both_right.sum()))
    if found.q is None:
        return found
    spread = both_right - both_right.mean(axis=RUN_AXIS)
    spread -= spread.mean(axis=RUN_AXIS, keepdims=True)
    share = np.trace(spread) ** 2 / (np.square(spread).sum() * found.df)
    return replace(found, p=float(gammaincc(found.df * share / 2, found.q * share / 2)))


def _cochran(per_run: list[int], squares: int) -> CochranQ:
    """Cochran's Q from the column sums and the sum of the squared row sums."""
    with optional:
        from scipy.special import gammaincc

    # Python integers: n may be large, and only then are the products below exact.
    k, total = len(per_run), sum(per_run)
    spread = k * total - squares
    if spread == 0:
        return CochranQ(None, k - 1, None, Reason.NO_DISCORDANT_PAIRS.value)
    q = (k - 1) * (k * sum(count * count for count in per_run) - total * total) / spread
    return CochranQ(q, k - 1, float(gammaincc((k - 1) / 2, q / 2)), None)


@dataclass(frozen=True, slots=True)
class Bowker:
    """Bowker's test of symmetry.

    `df` counts the pairs of classes with at least one exchange, `df_all_pairs` all K(K-1)/2
    pairs, which some programs use; `p` and `p_all_pairs` belong to them. Everything but the
    degrees of freedom is None, with the reason, if all off-diagonal cells are 0.
    """

    chi2: float | None
    df: int
    p: float | None
    df_all_pairs: int
    p_all_pairs: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class StuartMaxwell:
    """The Stuart-Maxwell test of equal margins.

    `df` is the rank of the covariance of the margin differences: K - 1 unless the exchanges
    fall into separate groups of classes. `chi2` and `p` are None, with the reason, if all
    off-diagonal cells are 0.
    """

    chi2: float | None
    df: int
    p: float | None
    reason: str | None


def bowker(table: ArrayLike) -> Bowker:
    """Test whether exchanges between classes go both ways equally often.

    `table` is (K, K) counts. chi2 = sum over i < j of (n_ij - n_ji)^2 / (n_ij + n_ji)
    (Bowker 1948, JASA 43, 572), over the pairs that have an exchange: an empty pair
    contributes nothing to the sum and no degree of freedom. For K = 2 it is McNemar's
    chi-square. Raises `InvalidInput` for a table that is not square or holds no counts.
    """
    with optional:
        from scipy.special import gammaincc

    counts = square_table(table, field="table")
    upper = np.triu_indices(counts.shape[0], 1)
    there, back = counts[upper], swap_axes(counts)[upper]
    exchanged = there + back
    used = exchanged > 0
    df, df_all = int(used.sum()), len(exchanged)
    if df == 0:
        return Bowker(None, 0, None, df_all, None, Reason.NO_DISCORDANT_PAIRS.value)
    gap = (there - back)[used].astype(np.float64)
    chi2 = float((gap * (gap / exchanged[used])).sum())
    return Bowker(
        chi2,
        df,
        float(gammaincc(df / 2, chi2 / 2)),
        df_all,
        float(gammaincc(df_all / 2, chi2 / 2)),
        None,
    )


def stuart_maxwell(table: ArrayLike) -> StuartMaxwell:
    """Test whether both classifications use the classes equally often.

    `table` is (K, K) counts. chi2 = d' V^- d with d the differences of the margins and V
    their covariance if margins are equal, V_ii = n_i. + n_.i - 2 n_ii and
    V_ij = -(n_ij + n_ji) (Stuart 1955, Biometrika 42, 412; Maxwell 1970, Br. J. Psychiatry
    116, 651). V is the Laplacian of the graph whose edges are the exchanges, so its rank is
    K minus the number of connected groups of classes: one class is left out of each group,
    which is a generalised inverse without any tolerance. A class without exchanges drops out.
    Raises `InvalidInput` for a table that is not square or holds no counts.
    """
    with optional:
        from scipy.special import gammaincc

    counts = square_table(table, field="table")
    exchanges = (counts + swap_axes(counts)).astype(np.float64)
    np.fill_diagonal(exchanges, 0.0)
    kept = _all_but_one_of_each_group(exchanges > 0)
    df = int(kept.sum())
    if df == 0:
        return StuartMaxwell(None, 0, None, Reason.NO_DISCORDANT_PAIRS.value)
    covariance = np.diag(actual_totals(exchanges)) - exchanges
    gaps = (actual_totals(counts) - predicted_totals(counts)).astype(np.float64)[kept]
    solved = np.linalg.solve(covariance[np.ix_(kept, kept)], gaps)
    chi2 = max(0.0, float(gaps @ solved))
    return StuartMaxwell(chi2, df, float(gammaincc(df / 2, chi2 / 2)), None)


def _all_but_one_of_each_group(linked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark all classes except the first of each connected group, shape (K,)."""
    unseen = np.ones(len(linked), np.bool_)
    kept = np.zeros(len(linked), np.bool_)
    for first in range(len(linked)):
        if not unseen[first]:
            continue
        unseen[first] = False
        frontier = linked[first] & unseen
        while frontier.any():
            unseen &= ~frontier
            kept |= frontier
            frontier = linked[frontier].any(axis=ACTUAL_AXIS) & unseen
    return kept


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Adjust p values so that the chance of any false alarm stays below the level tested at.

    `p` has shape (m,); the result is in the same order. The i-th smallest p is multiplied by
    m + 1 - i, made monotone and capped at 1 (Holm 1979, Scand. J. Statist. 6, 65). Valid however
    the tests depend on each other. For a few runs. Raises `InvalidInput` outside [0, 1].

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = _vector(p)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    climbing = np.maximum.accumulate(values[order] * factors)
    return _in_given_order(climbing, order)


def benjamini_hochberg(p: ArrayLike) -> NDArray[np.float64]:
    """Adjust p values so that the expected share of false alarms stays below the level tested at.

    `p` has shape (m,); the result is in the same order. The i-th smallest p is multiplied by
    m / i, made monotone from above and capped at 1 (Benjamini and Hochberg 1995, J. R. Statist.
    Soc. B 57, 289). Valid for independent or positively dependent tests. For leaderboards.
    Raises `InvalidInput` outside [0, 1].
    """
    values = _vector(p)
    order = np.argsort(values, kind="stable")
    m = len(values)
    scaled = values[order] * (m / np.arange(1, m + 1))
    climbing = np.minimum.accumulate(scaled[::-1])[::-1]
    return _in_given_order(climbing, order)


def _vector(p: ArrayLike) -> NDArray[np.float64]:
    values = probabilities(p, field="p")
    if values.ndim != 1:
        raise InvalidInput(
            f"the shape is {values.shape}.", field="p", hint="Give one p value per comparison."
        )
    return values


def _in_given_order(adjusted: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    result = np.empty_like(adjusted)
    result[order] = np.minimum(adjusted, 1.0)
    return result
