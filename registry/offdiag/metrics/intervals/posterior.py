"""Functions of the whole matrix, drawn from what the counts leave open about the true matrix.

With Jeffreys' prior for two classes, and a prior of 1/K for K >= 3, the class shares are
Dirichlet and each recall is a beta variable, independently (Goutte and Gaussier 2005; Caelen
2017; Tötsch and Hoffmann 2021, PeerJ CS 7, e398). A resample knows no errors that the sample
does not have, and its interval is too short for a class that has few cases; a posterior does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.resampling import batches, generator
from offdiag.metrics.tally import CLASS_AXIS

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DrawnMargins:
    """Shares of all cases in b drawn matrices, each (b, K): actual, predicted, and both right.

    A class may have 2^61 of the cases and another a single one. In a draw whose shares then round
    to 1 and 0, what is divided by their spread is undefined (NaN).
    """

    actual: Floats
    predicted: Floats
    correct: Floats

    def mcc(self) -> Floats:
        """Gorodkin's coefficient, (b,)."""
        spread = (1 - _squares(self.actual)) * (1 - _squares(self.predicted))
        return _ratio(_total(self.correct) - self._chance, np.sqrt(spread))

    def cohen_kappa(self) -> Floats:
        return _ratio(_total(self.correct) - self._chance, 1 - self._chance)

    def macro_f1(self) -> Floats:
        """Mean of F1 over all K classes, (b,)."""
        return np.asarray((2 * self.correct / (self.actual + self.predicted)).mean(CLASS_AXIS))

    @property
    def _chance(self) -> Floats:
        return np.asarray(np.einsum("bk,bk->b", self.actual, self.predicted))


def prior_of(n_classes: int) -> float:
    """What is added to the numbers of right and of wrong answers of each class.

    Jeffreys' prior pulls every one of many small classes towards 1/2, the smaller one does not.
    """
    return 0.5 if n_classes <= 2 else 1 / n_classes


def drawn_recalls(matrix: ConfusionMatrix, *, seed: int, draws: int) -> Floats:
    """Recall of each class in `draws` matrices from the posterior, (draws, K)."""
    return _recalls(matrix, generator(seed), draws)


def drawn_margins(
    matrix: ConfusionMatrix, *, seed: int, draws: int
) -> Iterator[tuple[slice, DrawnMargins]]:
    """Margins of `draws` matrices from the posterior, in batches of bounded size.

    The wrong answers of a class are split among the other classes in the same way, with a
    prior of 1 / (K (K - 1)) for each. Classes that a class was never taken for share what falls
    to all of them equally, so the work grows with the occupied cells and not with K squared.
    """
    rng = generator(seed)
    prior = prior_of(matrix.n_classes)
    wrong = _WrongAnswers.of(matrix)
    n_numbers = max(1, len(wrong.row) + 2 * matrix.n_classes)
    for part in batches(draws, n_cells=n_numbers):
        size = part.stop - part.start
        actual = rng.dirichlet(matrix.actual + prior, size=size)
        correct = actual * _recalls(matrix, rng, size)
        predicted = correct + wrong.drawn(actual - correct, rng)
        yield part, DrawnMargins(actual, predicted, correct)


def _recalls(matrix: ConfusionMatrix, rng: np.random.Generator, size: int) -> Floats:
    correct = np.diagonal(matrix.counts)
    prior = prior_of(matrix.n_classes)
    return rng.beta(
        correct + prior, matrix.actual - correct + prior, size=(size, matrix.n_classes)
    )


@dataclass(frozen=True, eq=False)
class _WrongAnswers:
    """The m occupied cells off the diagonal, ordered by predicted class, and the empty ones.

    `row`, `column` and `count` are (m,); `is_empty` (K, K) marks the empty cells off the
    diagonal.
    """

    row: NDArray[np.intp]
    column: NDArray[np.intp]
    count: NDArray[np.int64]
    is_empty: NDArray[np.bool_]

    @classmethod
    def of(cls, matrix: ConfusionMatrix) -> _WrongAnswers:
        off_diagonal = ~np.eye(matrix.n_classes, dtype=np.bool_)
        row, column = np.nonzero(off_diagonal & (matrix.counts > 0))
        by_column = np.argsort(column, kind="stable")
        row, column = row[by_column], column[by_column]
        is_empty = off_diagonal & (matrix.counts == 0)
        return cls(row, column, matrix.counts[row, column], is_empty)

    def drawn(self, mass: Floats, rng: np.random.Generator) -> Floats:
        """What is wrongly predicted as each class, (b, K), of `mass` by actual class, (b, K)."""
        n_classes = len(self.is_empty)
        prior = 1 / (n_classes * max(n_classes - 1, 1))
        n_empty = self.is_empty.sum(axis=CLASS_AXIS)
        taken = rng.standard_gamma(self.count + prior, size=(len(mass), len(self.row)))
        spread = rng.standard_gamma(n_empty * prior, size=mass.shape)
        total = spread.copy()
        by_row = np.argsort(self.row, kind="stable")
        _add_groups(total, taken[:, by_row], self.row[by_row])
        # A total that is too small for a number: only empty cells, with hardly any mass.
        is_lost = total < np.finfo(np.float64).tiny
        spread[is_lost] = total[is_lost] = 1.0
        weight = mass / total
        found: Floats = np.einsum(
            "bk,ka->ba", weight * spread / np.maximum(n_empty, 1), self.is_empty.astype(np.float64)
        )
        _add_groups(found, taken * weight[:, self.row], self.column)
        return found


def _ratio(above: Floats, below: Floats) -> Floats:
    found: Floats = np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)
    return found


def _add_groups(sums: Floats, numbers: Floats, group: NDArray[np.intp]) -> None:
    """Add `numbers` (b, m) to `sums` (b, K) by their ascending groups (m,)."""
    if len(group):
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        sums[:, group[starts]] += np.add.reduceat(numbers, starts, axis=CLASS_AXIS)


def _squares(shares: Floats) -> Floats:
    return np.asarray(np.einsum("bk,bk->b", shares, shares))


def _total(shares: Floats) -> Floats:
    return np.asarray(np.einsum("bk->b", shares))
