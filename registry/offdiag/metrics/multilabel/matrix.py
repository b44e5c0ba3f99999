"""The multi-label confusion matrix of Krstinic et al. (2020), in exact numbers.

Krstinic, Braovic, Seric, Bozic-Stulic: "Multi-label classifier performance evaluation with
confusion matrix", CS & IT 10(8), 2020. Every true label of a sample carries a mass of one, which
Algorithm 1 spreads over the predicted labels. The matrix of a single-label problem
is the special case of sets with one element.

It comes with two caveats. A missed label puts its mass on labels that were predicted
correctly, so a column share below one does not mean a wrong prediction; and neither share is
the recall or precision of the label, which come from its own two-by-two table. The algorithm
requires both sets to be non-empty; samples where one is empty are counted elsewhere.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.extras import optional
from offdiag.metrics.multilabel.exact_sums import ExactSums
from offdiag.metrics.multilabel.sets import SetPatterns, has_labels, set_sizes
from offdiag.metrics.quantity import Quantity, cause, defined_except

_TRUE_DIVISION = np.frompyfunc(operator.truediv, 2, 1)


@dataclass(frozen=True, eq=False)
class MultilabelMatrix:
    """Mass of each (true label, predicted label) pair over the samples with two non-empty sets.

    `cells` is float64 (q, q), actual label along the first axis, each cell the exact sum
    rounded once. `row_share` divides by the mass of the true label, `column_share` by the mass
    that arrived at the predicted one; a share is undefined for a label without mass.
    """

    cells: NDArray[np.float64]
    row_share: Quantity
    column_share: Quantity
    n_samples: int

    @property
    def n_cases(self) -> int:
        """Former name of `n_samples`, for one minor version."""
        return self.n_samples


def spread_mass(patterns: SetPatterns) -> ExactSums:
    """Algorithm 1 for patterns whose two sets are both non-empty.

    Cell i * q + j of the result is the mass of true label i on predicted label j. The four
    cases of the paper (equal, only spurious, only missed, both) differ in which labels give
    mass, which receive it, and the number of shares; labels in both sets keep their own,
    diluted to |Y| / |Z| when the only fault is a spurious label (equations 11, 13, 15, 17).
    """
    actual, predicted, count = patterns.actual, patterns.predicted, patterns.count
    missed = actual & ~predicted
    spurious = predicted & ~actual
    n_actual, n_predicted = set_sizes(actual), set_sizes(predicted)
    any_missed, n_spurious = has_labels(missed), set_sizes(spurious)
    only_spurious = ~any_missed & (n_spurious > 0)

    giving = np.where(any_missed[:, np.newaxis], missed, actual)
    receiving = np.where((n_spurious > 0)[:, np.newaxis], spurious, predicted)
    shares = np.where(any_missed & (n_spurious > 0), n_spurious, n_predicted)
    wrong = any_missed | (n_spurious > 0)
    moved = _pairs(giving[wrong], receiving[wrong], shares=shares[wrong], count=count[wrong])

    pattern, label = np.nonzero(actual & predicted)
    diluted = only_spurious[pattern]
    kept = ExactSums.collect(
        cell=label * (patterns.n_labels + 1),
        denominator=np.where(diluted, n_predicted[pattern], 1),
        numerator=np.where(diluted, n_actual[pattern], 1) * count[pattern],
    )
    return moved + kept


def multilabel_matrix(mass: ExactSums, *, n_labels: int, n_samples: int) -> MultilabelMatrix:
    """The matrix of shape (n_labels, n_labels) and its two normalised forms."""
    totals = mass.over_common_denominator()
    cell = np.fromiter(totals, dtype=np.int64, count=len(totals))
    numerator = np.array(list(totals.values()), dtype=object)
    actual, predicted = np.divmod(cell, n_labels)
    of_actual, of_predicted = np.zeros((2, n_labels), dtype=object)
    np.add.at(of_actual, actual, numerator)
    np.add.at(of_predicted, predicted, numerator)

    def laid_out(denominator: object) -> NDArray[np.float64]:
        # Python divides whole numbers of any size with one correct rounding.
        values = np.zeros(n_labels * n_labels)
        values[cell] = _TRUE_DIVISION(numerator, denominator)
        return values.reshape(n_labels, n_labels)

    shape = (n_labels, n_labels)
    no_actual = np.broadcast_to((of_actual == 0)[:, np.newaxis], shape)
    no_predicted = np.broadcast_to((of_predicted == 0)[np.newaxis, :], shape)
    return MultilabelMatrix(
        cells=laid_out(mass.common_denominator()),
        row_share=defined_except(
            laid_out(of_actual[actual]), cause(Reason.NO_ACTUAL_POSITIVES, no_actual)
        ),
        column_share=defined_except(
            laid_out(of_predicted[predicted]), cause(Reason.NO_PREDICTED_POSITIVES, no_predicted)
        ),
        n_samples=n_samples,
    )


def _pairs(
    giving: NDArray[np.bool_],
    receiving: NDArray[np.bool_],
    *,
    shares: NDArray[np.int64],
    count: NDArray[np.int64],
) -> ExactSums:
    """Sum over samples of count / shares for every giving label with every receiving one.

    One product of two sparse matrices handles all samples at once: its rows are (shares, giving
    label), its columns receiving labels, so different denominators never mix.
    """
    with optional:
        from scipy import sparse

    n_samples, n_labels = giving.shape
    most = int(shares.max(initial=0))
    sample, label = np.nonzero(giving)
    by_share = sparse.csr_array(
        (count[sample], (shares[sample] * n_labels + label, sample)),
        shape=((most + 1) * n_labels, n_samples),
    )
    product = (by_share @ sparse.csr_array(receiving.astype(np.int64))).tocoo()
    denominator, source = np.divmod(product.row.astype(np.int64), n_labels)
    return ExactSums.collect(
        cell=source * n_labels + product.col.astype(np.int64),
        denominator=denominator,
        numerator=product.data,
    )
