"""Tests on a square table of paired classifications: symmetry and equal margins.

With the predictions of two runs along the two axes they say whether the runs favour
different classes; with actual and predicted class, whether a run over- or under-predicts
some. Neither depends on which of the two lies along which axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.arguments import square_table
from offdiag.metrics.orientation import (
    ACTUAL_AXIS,
    actual_totals,
    predicted_totals,
    swap_axes,
)


@dataclass(frozen=True, slots=True)
class Bowker:
    """Bowker's test of symmetry.

    `df` counts the pairs of classes with at least one exchange, `df_all_pairs` all K(K-1)/2
    pairs, which some programs use; `p` and `p_all_pairs` belong to them. Everything but the
    degrees of freedom is None, with the reason, where nothing is off the diagonal.
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
    fall into separate groups of classes. `chi2` and `p` are None, with the reason, where
    nothing is off the diagonal.
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
