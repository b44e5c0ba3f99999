"""McNemar's test: do two runs get the same number of cases right?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.arguments import count_of


@dataclass(frozen=True, slots=True)
class McNemar:
    """Result of McNemar's test on two runs of the same cases.

    `only_first` cases are right in the first run only, `only_second` in the second only. The
    p values are two-sided. The chi-square fields are None, with the reason beside them, where
    no case tells the runs apart; the exact p values are then 1.
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
    """Compare two runs by the cases that only one of them gets right.

    `b` cases are right in the first run and wrong in the second, `c` the reverse. Given b + c
    and no difference, b is binomial with probability 1/2 (McNemar 1947, Psychometrika 12,
    153): `exact_p` is twice its smaller tail, at most 1, and `mid_p` counts the observed
    outcome by half (Fagerland, Lydersen and Laake 2013, BMC Med. Res. Methodol. 13:91).
    `chi2` is (b-c)^2/(b+c) with one degree of freedom, `chi2_cc` the same with Edwards'
    correction, max(0, |b-c|-1)^2/(b+c), which never turns equal counts into evidence.

    Raises `InvalidInput` for counts that are negative or not whole.

    >>> mcnemar(10, 2).exact_p
    0.03857421875
    """
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
    from scipy.special import betainc

    discordant, smaller = only_first + only_second, np.minimum(only_first, only_second)
    larger = np.maximum(discordant - smaller, 1)
    tail = betainc(larger, smaller + 1, 0.5)
    without_observed = betainc(larger + 1, np.maximum(smaller, 1), 0.5)
    both = np.minimum(1.0, tail + np.where(smaller > 0, without_observed, 0.0))
    return np.where(discordant > 0, both, 1.0)


def _fair_coin_tail(heads: int, tosses: int) -> float:
    """P(X <= heads) of a fair coin, as the beta integral it equals.

    scipy's own binomial tail loses digits from a million tosses and gives up at 2**31.
    """
    from scipy.special import betainc

    return float(betainc(tosses - heads, heads + 1, 0.5))
