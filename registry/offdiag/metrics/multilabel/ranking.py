"""How well scores order the labels of a case: relevant ones should come before the others.

Tsoumakas, Katakis and Vlahavas, "Mining multi-label data" (2010). Ties count against the
ranking, as in scikit-learn: a relevant label that is tied with another one stands behind it.
Cases without any relevant label have coverage 0; cases whose labels are all alike (none or
all relevant) have loss 0 and average precision 1, because any order of them is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.multilabel.exact_sums import ExactSums
from offdiag.metrics.multilabel.patterns import LABEL_AXIS, set_sizes

CELLS_AT_ONCE = 1 << 21
"""Scores ranked in one go; bounds the memory of the work arrays."""

_PRECISION, _LOSS = 0, 1


@dataclass(frozen=True, eq=False)
class RankingSums:
    """Sums over n cases: ranks to go down to (`coverage`), and the two averaged fractions."""

    n_cases: int
    coverage: int
    fractions: ExactSums

    def __add__(self, other: RankingSums) -> RankingSums:
        return RankingSums(
            self.n_cases + other.n_cases,
            self.coverage + other.coverage,
            self.fractions + other.fractions,
        )


def sum_over_rankings(actual: NDArray[np.bool_], scores: NDArray[np.floating]) -> RankingSums:
    """Rank the labels of each case. Both arrays have shape (n, q); scores are finite."""
    n_labels = actual.shape[LABEL_AXIS]
    step = max(1, CELLS_AT_ONCE // n_labels)
    sums = _rank_block(actual[:step], scores[:step])
    for start in range(step, len(actual), step):
        sums += _rank_block(actual[start : start + step], scores[start : start + step])
    return sums


def ranking_metrics(sums: RankingSums) -> Mapping[str, MetricValue]:
    """`coverage_error`, `label_ranking_loss` and `label_ranking_average_precision`."""
    totals = {
        "coverage_error": Fraction(sums.coverage),
        "label_ranking_loss": sums.fractions.total(_LOSS),
        "label_ranking_average_precision": sums.fractions.total(_PRECISION),
    }
    if sums.n_cases == 0:
        return {key: MetricValue(None, Reason.NO_CASES.value) for key in totals}
    return {key: MetricValue(float(total / sums.n_cases)) for key, total in totals.items()}


def _rank_block(actual: NDArray[np.bool_], scores: NDArray[np.floating]) -> RankingSums:
    n_labels = actual.shape[LABEL_AXIS]
    order = np.argsort(scores, axis=LABEL_AXIS)
    relevant = np.take_along_axis(actual, order, axis=LABEL_AXIS)
    n_lower = _positions_of_first_equal(np.take_along_axis(scores, order, axis=LABEL_AXIS))
    relevant_before: NDArray[np.int64] = np.cumsum(relevant, axis=LABEL_AXIS) - relevant
    n_relevant = set_sizes(actual)

    case, place = np.nonzero(relevant)
    lower = n_lower[case, place]
    at_least = n_labels - lower
    relevant_at_least = n_relevant[case] - relevant_before[case, lower]
    wrong_pairs = at_least - relevant_at_least
    n_pairs = n_relevant * (n_labels - n_relevant)
    has_order = n_pairs > 0

    # np.nonzero lists the places of a case from the lowest score up, so the first one is the
    # relevant label that stands last in the ranking.
    last_ranked = np.diff(case, prepend=-1) > 0
    ordered = has_order[case]
    undecided = int(np.count_nonzero(~has_order))
    return RankingSums(
        n_cases=len(actual),
        coverage=int(at_least[last_ranked].sum()),
        fractions=ExactSums.collect(
            cell=np.concatenate(
                [np.full(len(case), _PRECISION), [_PRECISION], np.full(len(case), _LOSS)]
            ),
            denominator=np.concatenate(
                [at_least * n_relevant[case], [1], np.maximum(n_pairs[case], 1)]
            ),
            numerator=np.concatenate([relevant_at_least * ordered, [undecided], wrong_pairs]),
        ),
    )


def _positions_of_first_equal(ascending: NDArray[np.floating]) -> NDArray[np.int64]:
    """For each place of each sorted row, the first place with the same score."""
    places = np.broadcast_to(np.arange(ascending.shape[LABEL_AXIS]), ascending.shape)
    begins = np.ones(ascending.shape, dtype=np.bool_)
    begins[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    firsts: NDArray[np.int64] = np.maximum.accumulate(np.where(begins, places, 0), axis=LABEL_AXIS)
    return firsts
