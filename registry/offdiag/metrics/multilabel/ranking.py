"""Ranking metrics of the labels of a sample: relevant labels should score above the others.

Tsoumakas, Katakis and Vlahavas, "Mining multi-label data" (2010). Ties count against the
ranking, as in scikit-learn: a relevant label that is tied with another one ranks behind it.
Samples without any relevant label have coverage 0; samples whose labels are all alike (none or
all relevant) have loss 0 and average precision 1, because every order of them is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.multilabel.exact_sums import Addends, ExactSums
from offdiag.metrics.multilabel.examples import OF_SETS
from offdiag.metrics.multilabel.sets import LABEL_AXIS, set_sizes
from offdiag.metrics.spec import EFFECTIVE_SIZE, Direction, MetricSpec

CELLS_AT_ONCE = 1 << 21
"""Scores ranked at a time; bounds the memory of the work arrays."""

_PRECISION, _LOSS = 0, 1


@dataclass(frozen=True, eq=False)
class RankingSums(Addends):
    """Sums over n samples: the ranks needed (`coverage`), and the two averaged fractions."""

    n_samples: int
    coverage: int
    fractions: ExactSums


@dataclass(frozen=True, eq=False)
class SampleRankings:
    """The three measures of each of n samples, float64 arrays of shape (n,)."""

    coverage: NDArray[np.float64]
    loss: NDArray[np.float64]
    average_precision: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _RankedBlock:
    """The relevant labels of a block of samples, r in all, each with its position in the ranking.

    Of shape (r,): `case` is the row to which it belongs; `at_least` labels score as high or
    higher, `relevant_at_least` of them relevant; `last_ranked` marks the last one of each sample.
    Of shape (n,): `n_relevant` labels, and `n_pairs` of a relevant and another label.
    """

    case: NDArray[np.intp]
    at_least: NDArray[np.int64]
    relevant_at_least: NDArray[np.int64]
    last_ranked: NDArray[np.bool_]
    n_relevant: NDArray[np.int64]
    n_pairs: NDArray[np.int64]


def sum_over_rankings(actual: NDArray[np.bool_], scores: NDArray[np.floating]) -> RankingSums:
    """Rank the labels of each sample. Both arrays have shape (n, q); scores are finite."""
    first, *others = (_sums(block) for block in _ranked_blocks(actual, scores))
    return sum(others, start=first)


def rank_samples(actual: NDArray[np.bool_], scores: NDArray[np.floating]) -> SampleRankings:
    """The measures of each sample, rounded. Arguments as in `sum_over_rankings`."""
    parts = [_by_sample(block) for block in _ranked_blocks(actual, scores)]
    return SampleRankings(
        coverage=np.concatenate([part.coverage for part in parts]),
        loss=np.concatenate([part.loss for part in parts]),
        average_precision=np.concatenate([part.average_precision for part in parts]),
    )


def ranking_metrics(sums: RankingSums) -> Mapping[str, MetricValue]:
    """`coverage_error`, `label_ranking_loss` and `label_ranking_average_precision`."""
    totals = {
        "coverage_error": Fraction(sums.coverage),
        "label_ranking_loss": sums.fractions.total(_LOSS),
        "label_ranking_average_precision": sums.fractions.total(_PRECISION),
    }
    if sums.n_samples == 0:
        return {key: MetricValue(None, Reason.NO_SAMPLES.value) for key in totals}
    return {key: MetricValue(float(total / sums.n_samples)) for key, total in totals.items()}


def _ranked_blocks(
    actual: NDArray[np.bool_], scores: NDArray[np.floating]
) -> Iterator[_RankedBlock]:
    """Blocks of bounded size, at least one."""
    step = max(1, CELLS_AT_ONCE // actual.shape[LABEL_AXIS])
    for start in range(0, max(len(actual), 1), step):
        yield _rank_block(actual[start : start + step], scores[start : start + step])


def _rank_block(actual: NDArray[np.bool_], scores: NDArray[np.floating]) -> _RankedBlock:
    n_labels = actual.shape[LABEL_AXIS]
    order = np.argsort(scores, axis=LABEL_AXIS)
    relevant = np.take_along_axis(actual, order, axis=LABEL_AXIS)
    n_lower = _positions_of_first_equal(np.take_along_axis(scores, order, axis=LABEL_AXIS))
    relevant_before: NDArray[np.int64] = np.cumsum(relevant, axis=LABEL_AXIS) - relevant
    n_relevant = set_sizes(actual)

    case, place = np.nonzero(relevant)
    lower = n_lower[case, place]
    return _RankedBlock(
        case=case,
        at_least=n_labels - lower,
        relevant_at_least=n_relevant[case] - relevant_before[case, lower],
        # np.nonzero lists the labels of a sample from the lowest score up, so the first one is
        # the relevant label that ranks last.
        last_ranked=np.diff(case, prepend=-1) > 0,
        n_relevant=n_relevant,
        n_pairs=n_relevant * (n_labels - n_relevant),
    )


def _sums(block: _RankedBlock) -> RankingSums:
    case, at_least = block.case, block.at_least
    has_order = block.n_pairs > 0
    undecided = int(np.count_nonzero(~has_order))
    return RankingSums(
        n_samples=len(block.n_pairs),
        coverage=int(at_least[block.last_ranked].sum()),
        fractions=ExactSums.collect(
            cell=np.concatenate(
                [np.full(len(case), _PRECISION), [_PRECISION], np.full(len(case), _LOSS)]
            ),
            denominator=np.concatenate(
                [at_least * block.n_relevant[case], [1], np.maximum(block.n_pairs[case], 1)]
            ),
            numerator=np.concatenate(
                [
                    block.relevant_at_least * has_order[case],
                    [undecided],
                    at_least - block.relevant_at_least,
                ]
            ),
        ),
    )


def _by_sample(block: _RankedBlock) -> SampleRankings:
    n_samples = len(block.n_pairs)
    has_order = block.n_pairs > 0

    def added_up(terms: NDArray[Any]) -> NDArray[np.float64]:
        found = np.bincount(block.case, weights=terms, minlength=n_samples)
        return found.astype(np.float64, copy=False)

    precision = added_up(block.relevant_at_least / block.at_least)
    return SampleRankings(
        coverage=added_up(block.at_least * block.last_ranked),
        loss=added_up(block.at_least - block.relevant_at_least) / np.maximum(block.n_pairs, 1),
        average_precision=np.where(has_order, precision / np.maximum(block.n_relevant, 1), 1.0),
    )


def _positions_of_first_equal(ascending: NDArray[np.floating]) -> NDArray[np.int64]:
    """For each position in each sorted row, the first position with the same score."""
    places = np.broadcast_to(np.arange(ascending.shape[LABEL_AXIS]), ascending.shape)
    begins = np.ones(ascending.shape, dtype=np.bool_)
    begins[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    firsts: NDArray[np.int64] = np.maximum.accumulate(np.where(begins, places, 0), axis=LABEL_AXIS)
    return firsts


_STUDENT = "Student's t interval of the mean over examples."
_TSOUMAKAS = (
    "Tsoumakas, Katakis and Vlahavas 2010, Mining multi-label data, in: Data Mining and "
    "Knowledge Discovery Handbook"
)


SPECS: tuple[MetricSpec, ...] = (
    OF_SETS(
        key="coverage_error",
        interval=_STUDENT,
        title="Coverage error",
        formula="mean over examples of the number of labels scored at least as high as the lowest "
        "scored label of Y",
        high=math.inf,
        direction=Direction.LOWER,
        source=_TSOUMAKAS,
        ignores=("the scores, except for their order",),
        other_names={
            "scikit-learn": "coverage_error",
            "torchmetrics": "multilabel_coverage_error",
        },
        notes="At best the mean size of Y, at worst q. An example without true labels counts as "
        "0.",
    ),
    OF_SETS(
        key="label_ranking_loss",
        interval=EFFECTIVE_SIZE,
        title="Label ranking loss",
        formula="mean over examples of the share of (true, other) label pairs where the true one "
        "is not scored higher",
        direction=Direction.LOWER,
        source=_TSOUMAKAS,
        ignores=("the scores, except for their order",),
        other_names={
            "scikit-learn": "label_ranking_loss",
            "torchmetrics": "multilabel_ranking_loss",
        },
        notes="Ties count as wrong. An example counts as 0 if none or all of its labels are true.",
    ),
    OF_SETS(
        key="label_ranking_average_precision",
        interval=EFFECTIVE_SIZE,
        title="Label ranking average precision",
        formula="mean over examples and true labels of the share of true labels among those "
        "scored at least as high",
        source=_TSOUMAKAS,
        ignores=("the scores, except for their order",),
        other_names={
            "scikit-learn": "label_ranking_average_precision_score",
            "torchmetrics": "multilabel_ranking_average_precision",
        },
        notes="An example counts as 1 if none or all of its labels are true.",
    ),
)
