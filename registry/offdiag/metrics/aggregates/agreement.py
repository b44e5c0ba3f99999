"""Agreement beyond chance: the correlation coefficient R_K and the kappa family.

All are quotients of whole numbers. With S correct samples, row totals t and column totals p,
write T = sum t_k p_k. Differences such as S N - T cancel almost completely for rare classes,
so they are computed with exact integers, and the division or root comes last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.aggregates.classified import AggregateMetric, Classified
from offdiag.metrics.gradients import (
    Cells,
    ClassShares,
    Codes,
    Dual,
    Floats,
    Gradient,
    margin_shares,
)
from offdiag.metrics.quantity import (
    Quantity,
    as_float,
    cause,
    defined_except,
    first_cause,
    fraction,
    within_one,
)
from offdiag.metrics.spec import (
    BOTH_ROLES_ALIKE,
    FEW_OUTSIDE,
    NO_SAMPLES,
    OF_CELLS,
    OF_MATRIX,
    ONE_CLASS_EVERYWHERE,
    PATTERN_OF_ERRORS,
    SHARE_OF_CORRECT,
    Symmetry,
)
from offdiag.metrics.tally import CLASS_AXIS, Tally, over_classes, products_over_classes, widened


def mcc(m: Classified) -> Quantity:
    """(S N - T) / sqrt((N^2 - sum p^2)(N^2 - sum t^2)), Gorodkin 2004, for two or more classes."""
    tally = m.tally
    squared_total = tally.total * tally.total
    actual_spread = squared_total - tally.actual_squares
    predicted_spread = squared_total - tally.predicted_squares
    is_constant_actual = tally.n_actual_classes == 1
    is_constant_predicted = tally.n_predicted_classes == 1
    undefined = first_cause(
        tally.no_samples,
        cause(Reason.CONSTANT_MARGIN, is_constant_actual & is_constant_predicted),
        cause(Reason.CONSTANT_ACTUAL, is_constant_actual),
        cause(Reason.CONSTANT_PREDICTED, is_constant_predicted),
    )
    root = np.sqrt(as_float(actual_spread) * as_float(predicted_spread))
    return fraction(_covariance(tally), root, undefined).map(within_one)


def _mcc_slopes(s: ClassShares) -> Dual:
    actual_spread = 1.0 - (s.actual * s.actual).total()
    predicted_spread = 1.0 - (s.predicted * s.predicted).total()
    return (s.accuracy - s.chance_hits) / (actual_spread * predicted_spread).sqrt()


def cohen_kappa(m: Classified) -> Quantity:
    """(S N - T) / (N^2 - T)."""
    tally = m.tally
    below = tally.total * tally.total - tally.chance_hits
    return fraction(_covariance(tally), below, tally.one_class_everywhere)


def kappa_linear(m: Classified) -> Quantity:
    """Kappa with disagreement |i - j| between the i-th and the j-th declared class."""
    return _weighted_kappa(m.tally, _expected_linear, power=1)


def kappa_quadratic(m: Classified) -> Quantity:
    """Kappa with disagreement (i - j)^2 between the i-th and the j-th declared class."""
    return _weighted_kappa(m.tally, _expected_quadratic, power=2)


def _kappa_linear_gradient(matrix: Cells) -> Gradient:
    return _weighted_kappa_gradient(matrix, lambda distance: distance, _mean_distance)


def _kappa_quadratic_gradient(matrix: Cells) -> Gradient:
    return _weighted_kappa_gradient(
        matrix, lambda distance: distance * distance, _mean_squared_distance
    )


def scott_pi(m: Classified) -> Quantity:
    """Kappa with chance agreement from the pooled margins (t + p) / 2N."""
    tally = m.tally
    pooled = _pooled_squares(tally)
    above = 4 * tally.n_correct * tally.total - pooled
    below = 4 * tally.total * tally.total - pooled
    return fraction(above, below, tally.one_class_everywhere)


def _scott_pi_slopes(s: ClassShares) -> Dual:
    chance = _pooled_square_shares(s)
    return (s.accuracy - chance) / (1.0 - chance)


def gwet_ac1(m: Classified) -> Quantity:
    """Kappa with chance agreement sum q (1 - q) / (K - 1), q the pooled margins (Gwet 2008)."""
    tally = m.tally
    others = tally.n_classes - 1
    bound = 4 * max(others, 1) * tally.largest_total**2
    total, n_correct, pooled = widened(bound, tally.total, tally.n_correct, _pooled_squares(tally))
    chance = 4 * total * total - pooled
    above = 4 * others * n_correct * total - chance
    below = 4 * others * total * total - chance
    undefined = tally.no_samples
    if others == 0:
        undefined = first_cause(undefined, tally.everywhere(Reason.SINGLE_CLASS_DECLARED))
    return fraction(above, below, undefined)


def _gwet_ac1_slopes(s: ClassShares) -> Dual:
    if s.n_classes == 1:
        return s.undefined
    chance = (1.0 - _pooled_square_shares(s)) / (s.n_classes - 1)
    return (s.accuracy - chance) / (1.0 - chance)


def _covariance(tally: Tally) -> NDArray[Any]:
    return np.asarray(tally.n_correct * tally.total - tally.chance_hits)


def _pooled_squares(tally: Tally) -> NDArray[Any]:
    """sum (t_k + p_k)^2, multiplied out."""
    return np.asarray(tally.actual_squares + 2 * tally.chance_hits + tally.predicted_squares)


def _pooled_square_shares(s: ClassShares) -> Dual:
    pooled = s.actual + s.predicted
    return 0.25 * (pooled * pooled).total()


_DISTANCES_AT_ONCE = 1 << 22
"""Pairs of classes whose distances are held at once: those of all with up to 2,048 classes."""


def _weighted_kappa(
    tally: Tally,
    expected: Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], NDArray[Any]],
    *,
    power: int,
) -> Quantity:
    """1 - N sum w c / sum w t p with w = |i - j|^power, written as one fraction."""
    if not tally.ordinal:
        return defined_except(tally.total, tally.everywhere(Reason.ORDER_NOT_DECLARED))
    largest_weight = tally.n_classes**power
    (counts,) = widened(largest_weight * tally.largest_total, tally.counts)
    disagreement = _disagreement(tally, counts, power)
    total, actual, predicted, disagreement = widened(
        2 * largest_weight * tally.largest_total**2,
        *(tally.total, tally.actual, tally.predicted, disagreement),
    )
    chance = expected(actual, predicted, total)
    return fraction(chance - total * disagreement, chance, tally.one_class_everywhere)


def _disagreement(tally: Tally, counts: NDArray[Any], power: int) -> NDArray[Any]:
    """sum |i - j|^power c_ij, in the number type of the tally, shape (R,)."""
    place = np.arange(tally.n_classes)
    step = max(1, _DISTANCES_AT_ONCE // tally.n_classes)
    summed: Any = 0
    for first in range(0, tally.n_classes, step):
        rows = slice(first, first + step)
        weights = (np.abs(place[rows, np.newaxis] - place) ** power).astype(counts.dtype)
        summed = summed + np.einsum("rap,ap->r", counts[:, rows], weights)
    is_whole = summed.dtype.kind == "O"
    return np.asarray(summed if is_whole else summed.astype(tally.total.dtype, copy=False))


def _expected_linear(
    actual: NDArray[Any], predicted: NDArray[Any], total: NDArray[Any]
) -> NDArray[Any]:
    """sum |i - j| t_i p_j: each cut between neighbouring classes separates the pairs across it."""
    actual_below = np.add.accumulate(actual, axis=CLASS_AXIS)
    predicted_below = np.add.accumulate(predicted, axis=CLASS_AXIS)
    wide = total[..., np.newaxis]
    across = actual_below * (wide - predicted_below) + predicted_below * (wide - actual_below)
    return over_classes(across)


def _expected_quadratic(
    actual: NDArray[Any], predicted: NDArray[Any], total: NDArray[Any]
) -> NDArray[Any]:
    """sum (i - j)^2 t_i p_j, multiplied out so that no K by K table is needed."""
    place = np.arange(actual.shape[CLASS_AXIS]).astype(actual.dtype)
    squares = products_over_classes(place * place, actual + predicted)
    of_means = products_over_classes(place, actual) * products_over_classes(place, predicted)
    return np.asarray(total * squares - 2 * of_means)


def _weighted_kappa_gradient(
    matrix: Cells,
    disagreement: Callable[[Floats], Floats],
    mean_disagreement: Callable[[Floats], Floats],
) -> Gradient:
    """1 - D/E with D = sum w q and E = sum w t p, if the labels have an order."""
    actual, predicted = margin_shares(matrix)
    rows, columns = np.nonzero(matrix.counts)
    cells = matrix.counts[rows, columns] / matrix.total

    def weight(i: Codes, j: Codes) -> Floats:
        # Codes may be unsigned, and then so would their difference.
        return disagreement(np.abs(np.subtract(i, j, dtype=np.float64)))

    observed = float((weight(rows, columns) * cells).sum())
    to_predicted = mean_disagreement(predicted)
    expected = float(actual @ to_predicted) if matrix.labels.has_declared_order else np.nan
    of_expected = np.divide(observed, expected**2)
    return Gradient(
        float(1.0 - np.divide(observed, expected)),
        np.zeros(matrix.n_classes),
        of_expected * to_predicted,
        of_expected * mean_disagreement(actual),
        lambda i, j: -weight(i, j) / expected,
    )


def _mean_distance(shares: Floats) -> Floats:
    """sum over j of |i - j| shares_j for every i, from two running sums."""
    place = np.arange(len(shares), dtype=np.float64)
    below, moment_below = np.cumsum(shares), np.cumsum(place * shares)
    mean: Floats = place * (2 * below - below[-1]) + moment_below[-1] - 2 * moment_below
    return mean


def _mean_squared_distance(shares: Floats) -> Floats:
    """sum over j of (i - j)^2 shares_j for every i."""
    place = np.arange(len(shares), dtype=np.float64)
    squares = place**2 * shares.sum() - 2 * place * (place @ shares)
    mean: Floats = squares + place**2 @ shares
    return mean


_CHANCE_CORRECTED = f"{OF_MATRIX} {FEW_OUTSIDE}"
_ORDERED = Symmetry(role_swap=True, class_inversion=True, label_permutation=False)

_NEEDS_ORDER = {
    Reason.ORDER_NOT_DECLARED: "the labels were inferred from data, without a declared order"
}

SPECS: tuple[AggregateMetric, ...] = (
    AggregateMetric(
        key="mcc",
        compute=mcc,
        slopes=_mcc_slopes,
        interval=_CHANCE_CORRECTED,
        namesakes=("cohen_kappa",),
        title="Matthews correlation coefficient (MCC)",
        symbol="R_K",
        formula="(S N - sum t_k p_k) / sqrt((N^2 - sum p_k^2)(N^2 - sum t_k^2))",
        low=-1,
        source="Gorodkin 2004, Computational Biology and Chemistry 28(5-6), 367-374",
        undefined_when=NO_SAMPLES
        | {
            Reason.CONSTANT_ACTUAL: "only one class has examples",
            Reason.CONSTANT_PREDICTED: "only one class is ever predicted",
            Reason.CONSTANT_MARGIN: "only one class has examples and only one is predicted",
        },
        ignores=(PATTERN_OF_ERRORS,),
        other_names={
            "scikit-learn": "matthews_corrcoef (0 where undefined)",
            "PyCM": "Overall MCC",
            "torchmetrics": "matthews_corrcoef (up to 1 for a constant prediction)",
        },
        notes="0 is chance. It depends on the prevalence: the same recall and specificity can "
        "give 0.79 at a prevalence of one half and 0.17 at one in a thousand. It can reach -1 "
        "only with two classes.",
        symmetry=SHARE_OF_CORRECT,
    ),
    AggregateMetric(
        key="cohen_kappa",
        compute=cohen_kappa,
        slopes=lambda s: (s.accuracy - s.chance_hits) / (1.0 - s.chance_hits),
        interval=_CHANCE_CORRECTED,
        namesakes=("kappa_linear", "kappa_quadratic", "scott_pi", "gwet_ac1", "mcc"),
        title="Cohen's kappa",
        symbol="kappa",
        formula="(S N - sum t_k p_k) / (N^2 - sum t_k p_k)",
        low=-1,
        source="Cohen 1960, Educational and Psychological Measurement 20(1), 37-46",
        undefined_when=ONE_CLASS_EVERYWHERE,
        ignores=(PATTERN_OF_ERRORS,),
        other_names={
            "scikit-learn": "cohen_kappa_score",
            "PyCM": "Kappa",
            "torchmetrics": "cohen_kappa",
            "statsmodels": "cohens_kappa",
            "caret": "Kappa",
        },
        symmetry=BOTH_ROLES_ALIKE,
    ),
    AggregateMetric(
        key="kappa_linear",
        compute=kappa_linear,
        gradient=_kappa_linear_gradient,
        interval=OF_CELLS,
        namesakes=("cohen_kappa", "kappa_quadratic"),
        title="Linearly weighted kappa",
        formula="1 - N sum |i - j| c_ij / sum |i - j| t_i p_j",
        low=-1,
        source="Cohen 1968, Psychological Bulletin 70(4), 213-220",
        undefined_when=ONE_CLASS_EVERYWHERE | _NEEDS_ORDER,
        other_names={
            "scikit-learn": "cohen_kappa_score(weights='linear') (over sorted labels)",
            "PyCM": "weighted_kappa",
            "statsmodels": "cohens_kappa(wt='linear')",
        },
        notes="Uses the declared order of the labels.",
        symmetry=_ORDERED,
    ),
    AggregateMetric(
        key="kappa_quadratic",
        compute=kappa_quadratic,
        gradient=_kappa_quadratic_gradient,
        interval=OF_CELLS,
        namesakes=("cohen_kappa", "kappa_linear"),
        title="Quadratically weighted kappa",
        formula="1 - N sum (i - j)^2 c_ij / sum (i - j)^2 t_i p_j",
        low=-1,
        source="Cohen 1968, Psychological Bulletin 70(4), 213-220",
        undefined_when=ONE_CLASS_EVERYWHERE | _NEEDS_ORDER,
        other_names={
            "scikit-learn": "cohen_kappa_score(weights='quadratic') (over sorted labels)",
            "PyCM": "weighted_kappa",
            "statsmodels": "cohens_kappa(wt='quadratic')",
        },
        notes="Uses the declared order of the labels. Errors between distant classes count much "
        "more than those between neighbours, and the middle classes hardly count.",
        symmetry=_ORDERED,
    ),
    AggregateMetric(
        key="scott_pi",
        compute=scott_pi,
        slopes=_scott_pi_slopes,
        namesakes=("cohen_kappa", "gwet_ac1"),
        title="Scott's pi",
        symbol="pi",
        formula="(OA - e) / (1 - e), e = sum ((t_k + p_k) / 2N)^2",
        low=-1,
        source="Scott 1955, Public Opinion Quarterly 19(3), 321-325",
        undefined_when=ONE_CLASS_EVERYWHERE,
        ignores=(PATTERN_OF_ERRORS,),
        other_names={"PyCM": "Scott PI"},
        notes="Never above Cohen's kappa, and equal to it if both margins are equal.",
        symmetry=BOTH_ROLES_ALIKE,
    ),
    AggregateMetric(
        key="gwet_ac1",
        compute=gwet_ac1,
        slopes=_gwet_ac1_slopes,
        namesakes=("cohen_kappa", "scott_pi"),
        title="Gwet's AC1",
        symbol="AC1",
        formula="(OA - e) / (1 - e), e = sum q_k (1 - q_k) / (K - 1), q_k = (t_k + p_k) / 2N",
        low=-1,
        source="Gwet 2008, British Journal of Math. and Stat. Psychology 61(1), 29-48",
        undefined_when=NO_SAMPLES
        | {Reason.SINGLE_CLASS_DECLARED: "only one class is declared (K = 1)"},
        ignores=(PATTERN_OF_ERRORS,),
        other_names={"PyCM": "Gwet AC1"},
        notes="Stays high for a constant prediction on very imbalanced classes, where kappa is 0.",
        symmetry=BOTH_ROLES_ALIKE,
    ),
)
