"""Slices of weighted samples compared with the rest, using effective sizes.

A rate with weights w has the variance of resampled samples, the sum of w² (y - q)² over the square
of the sum of w, where q is the rate of both groups together. A group of weighted samples is
tested as if it had the number of equal samples that gives this variance, rounded down, with hits
rounded towards q (Korn and Graubard 1998, Survey Methodology 24, 193). With equal weights that is
the number of samples, and tests and intervals are those of counts.

For averages over classes the variance of a slope is multiplied by the sum of w²: whether a sample
is right must not depend on its weight, given its class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.slices.counts import (
    MIN_SAMPLES,
    CodedColumn,
    count_slices,
    outcomes_of_classes,
)
from offdiag.metrics.slices.finder import (
    Proportions,
    Question,
    SliceFindings,
    findings_among,
    margins_in,
    metrics_and_errors,
    proportion,
)
from offdiag.metrics.slices.gaps import Floats, Margins, exact_p

SAMPLES, SUMS, SQUARES = 0, 1, 2
"""Positions on the axis of kinds: numbers of samples, sums of weights, sums of their squares."""
_N_KINDS = 3
PARTS_OF_ONE = 2**30
"""Weights are rounded up to multiples of their mean divided by this."""
_ROUNDING = 1e-9
"""Sizes this close to a whole number count as that number."""


def find_weighted_slices(
    columns: Sequence[CodedColumn],
    actual: NDArray[Any],
    predicted: NDArray[Any],
    weight: Floats,
    *,
    half: NDArray[Any],
    matrix: Floats,
    min_samples: int = MIN_SAMPLES,
) -> SliceFindings:
    """Test every slice and cross of n samples, as `find_slices` does for counts.

    `weight` (n,) are 0 or more, `half` (n,) is 0 or 1 and `matrix` (K, K) has the sums of weights.
    Minimum sizes for testing refer to numbers of samples.
    """
    n_classes, n = len(matrix), len(weight)
    # Mean 1 keeps sizes of all kinds comparable; sums of whole parts do not depend on order.
    scaled = np.ceil(weight / (weight.mean() or 1.0) * PARTS_OF_ONE) / PARTS_OF_ONE
    kinds = np.repeat(np.arange(_N_KINDS), n)
    outcomes = outcomes_of_classes(
        np.tile(actual, _N_KINDS),
        np.tile(predicted, _N_KINDS),
        n_classes=n_classes,
        part=np.tile(half.astype(np.int64), _N_KINDS) * _N_KINDS + kinds,
        n_parts=2 * _N_KINDS,
    )
    # With weights added, no cross with enough samples looks too small.
    counts = count_slices(
        [replace(each, codes=np.tile(each.codes, _N_KINDS)) for each in columns],
        outcomes,
        n_samples=n * _N_KINDS,
        n_parts=2 * _N_KINDS,
        sizes=np.concatenate([np.ones(n), scaled, scaled**2]),
        min_samples=min_samples,
    )
    shape = (2, _N_KINDS, counts.total.shape[-1])
    numbers = counts.numbers.reshape(-1, *shape)
    kept = np.einsum("sh->s", numbers[:, :, SAMPLES, 0]) >= min_samples
    kept[: counts.n_singles] = True
    return findings_among(
        replace(counts, members=counts.members[kept], numbers=counts.numbers[kept]),
        numbers[kept],
        counts.total.reshape(shape),
        WeightedQuestion(*metrics_and_errors(n_classes, matrix), min_samples),
    )


@dataclass(frozen=True, eq=False)
class WeightedQuestion(Question):
    """A question with numbers of slices (S, 3, 2 + 3 K): samples, weights, squared weights."""

    is_weighted: ClassVar[bool] = True

    def samples(self, numbers: Floats) -> Floats:
        return numbers[..., SAMPLES, :]

    def sums(self, numbers: Floats) -> Floats:
        return numbers[..., SUMS, :]

    def margins(self, numbers: Floats) -> Margins:
        return replace(
            margins_in(self.sums(numbers)),
            samples=margins_in(self.samples(numbers)).actual,
            squares=margins_in(numbers[..., SQUARES, :]).actual,
        )

    def proportions(self, one: Floats, other: Floats, key: str, code: int | None) -> Proportions:
        """Effective sizes, and the hits out of them."""
        pooled = _rate(*proportion(self.sums(one + other), key, code))
        found = []
        for each in (one, other):
            hits, cases = proportion(self.sums(each), key, code)
            size = self._effective(each, key, code, pooled)
            found += [_rate(hits, cases) * size, size]
        return found[0], found[1], found[2], found[3]

    def p_of_rates(self, one: Floats, other: Floats, key: str, code: int | None) -> Floats:
        """The exact p of whole sizes, no more extreme than the weighted rates."""
        hits, cases, theirs, rest = self.proportions(one, other, key, code)
        pooled = _rate(*proportion(self.sums(one + other), key, code))
        mine, others = np.floor(cases + _ROUNDING), np.floor(rest + _ROUNDING)
        p = exact_p(
            _towards(pooled, _rate(hits, cases), mine),
            mine,
            _towards(pooled, _rate(theirs, rest), others),
            others,
        )
        return np.where(np.isfinite(cases * rest), p, np.nan)

    def _effective(self, numbers: Floats, key: str, code: int | None, pooled: Floats) -> Floats:
        """The number of equal samples whose rate has the same variance; NaN without weight."""
        hits, cases = proportion(self.sums(numbers), key, code)
        square_hits, squares = proportion(numbers[..., SQUARES, :], key, code)
        wrong, right = pooled**2, (1 - pooled) ** 2
        spread = hits * right + (cases - hits) * wrong
        of_squares = square_hits * right + (squares - square_hits) * wrong
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.where(of_squares > 0, cases * spread / of_squares, cases**2 / squares)
        kept: Floats = np.minimum(size, proportion(self.samples(numbers), key, code)[1])
        return kept


def _rate(hits: Floats, cases: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.asarray(hits / cases)
    return found


def _towards(pooled: Floats, rate: Floats, cases: Floats) -> Floats:
    """The hits that give this rate, rounded to a whole number towards the pooled rate."""
    hits = np.nan_to_num(rate) * np.nan_to_num(cases)
    return np.where(rate > pooled, np.floor(hits + _ROUNDING), np.ceil(hits - _ROUNDING))
