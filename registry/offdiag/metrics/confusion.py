"""The canonical confusion matrix: exact counts, actual classes along the first axis.

It also holds the matrix of merged classes, and an order of classes that puts those confused with
one another side by side. The order is that of average linkage on the confusion in both
directions, each as a share of its actual class. With up to `EXACT_LEAVES` classes the leaves are
then arranged optimally (Bar-Joseph et al. 2001), so that neighbours are as similar as the tree
allows; with more, that costs seconds and gains little.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.hierarchy import Collapse
from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.extras import optional
from offdiag.metrics.arguments import unmasked
from offdiag.metrics.orientation import (
    ACTUAL_AXIS,
    PREDICTED_AXIS,
    STACK_ACTUAL_AXIS,
    STACK_PREDICTED_AXIS,
    actual_totals,
    predicted_totals,
    swap_axes,
    to_canonical,
)

LARGEST_TOTAL = 2**62
"""Sums of counts stay below this, so that int64 margins cannot wrap."""


@dataclass(frozen=True)
class ConfusionMatrix:
    """Counts of (actual, predicted) pairs.

    `counts` is a read-only int64 array of shape (K, K) with K = len(labels); `counts[i, j]` is
    the number of samples of actual class i that were predicted as class j.
    """

    counts: NDArray[np.int64]
    labels: LabelSet

    def __post_init__(self) -> None:
        self.counts.flags.writeable = False

    @property
    def n_classes(self) -> int:
        return len(self.labels)

    @cached_property
    def total(self) -> int:
        """Number of samples, N."""
        return int(self.counts.sum())

    @cached_property
    def actual(self) -> NDArray[np.int64]:
        """Samples of each actual class (the support), shape (K,)."""
        totals: NDArray[np.int64] = actual_totals(self.counts)
        return totals

    @cached_property
    def correct(self) -> NDArray[np.int64]:
        """Samples of each class that were predicted correctly, shape (K,)."""
        return np.diagonal(self.counts)

    @property
    def n_right(self) -> int:
        """Number of samples that were predicted correctly."""
        return int(self.correct.sum())

    @cached_property
    def predicted(self) -> NDArray[np.int64]:
        """Samples predicted as each class, shape (K,)."""
        totals: NDArray[np.int64] = predicted_totals(self.counts)
        return totals

    @cached_property
    def digest(self) -> str:
        """SHA-256 over labels and counts, as 64 hex digits."""
        digest = hashlib.sha256(self.labels.digest.encode())
        # Without a copy of the cells, which for 10,000 classes take 800 MB.
        digest.update(np.ascontiguousarray(self.counts, "<i8").data)
        return digest.hexdigest()


def confusion_matrix(
    matrix: ArrayLike, *, labels: LabelSet | None = None, orientation: SourceOrientation
) -> ConfusionMatrix:
    """Check a matrix from the caller and lay it out canonically.

    `matrix` is (K, K) of non-negative whole numbers; `orientation` says which axis is the
    actual class. Raises `InvalidInput` naming the first thing that is wrong.
    """
    counts = whole_counts(matrix)
    size = counts.shape[0]
    names = LabelSet.numbered(size) if labels is None else labels
    if len(names) != size:
        raise InvalidInput(
            f"the matrix is {size} x {size} but {len(names)} labels were given.",
            field="labels",
            hint="Give one label for each row and column, in that order.",
        )
    return ConfusionMatrix(to_canonical(counts, orientation), names)


def whole_counts(matrix: ArrayLike) -> NDArray[np.int64]:
    """The cells of a matrix from the caller, in its own order. Raises `InvalidInput`."""
    try:
        return _whole_numbers(np.asarray(unmasked(matrix)))
    except InvalidInput:
        raise
    except ValueError:
        raise InvalidInput(
            "the rows have different lengths.",
            field="matrix",
            hint="A confusion matrix is square, one row and one column for each class.",
        ) from None


_MANY_CLASSES = 3
"""Classes from which counts are unlikely to look like shares, or to end in their own totals.

The percentages of as many classes may miss 100, as each is rounded.
"""
_PER_CENT = 100


def notes_on_matrix(matrix: Any) -> list[str]:
    """Notes on a matrix that looks like one of shares, or ends in totals under any name.

    `matrix` has been checked by `whole_counts`, and is read as counts.
    """
    counts = whole_counts(matrix)
    shares = notes_on_ones(matrix) or _notes_on_percentages(counts)
    return shares + _notes_on_totals(counts)


def _notes_on_totals(counts: NDArray[np.int64]) -> list[str]:
    """A note if the last row and the last column are totals of the others."""
    last_row, last_column = counts[-1], counts[:, -1]
    are_totals = np.array_equal(last_row, _sums(counts[:-1])["column"]) and np.array_equal(
        last_column, _sums(counts[:, :-1])["row"]
    )
    if len(counts) < _MANY_CLASSES or not are_totals or not last_row.any():
        return []
    note = (
        "the last row and column of the matrix are the sums of the others, and were read as those "
        "of a class. Leave them out if they are totals."
    )
    return [note]


def notes_on_ones(matrix: Any) -> list[str]:
    """A note on a float matrix in which each row, or each column, is a single 1 beside zeros.

    The normalised matrix of a model that always gives a class the same answer looks like this;
    read as counts, it has one sample of each class. Whole numbers get no note, because shares
    are never integers.
    """
    cells = np.asarray(unmasked(matrix))
    if cells.dtype.kind != "f" or len(cells) < _MANY_CLASSES:
        return []
    are_one = {name: bool((sums == 1).all()) for name, sums in _sums(cells).items()}
    name = next((name for name, adds_up in are_one.items() if adds_up), None)
    if name is None:
        return []
    note = (
        f"every {name} of the matrix adds up to 1, as shares do; it was read as counts of "
        f"{len(cells)} samples, one in each {name}. Give the counts if it was normalised."
    )
    return [note]


def _notes_on_percentages(counts: NDArray[np.int64]) -> list[str]:
    """A note if each row or each column adds up to 100, apart from empty ones.

    Percentages of three or more classes may add up to 99 or 101, since each is rounded. A total
    of 100 gets no note: so many samples are common, and shares of the whole have the same ratios.
    """
    slack = 1 if len(counts) >= _MANY_CLASSES else 0
    for name, sums in _sums(counts).items():
        filled = sums[sums > 0]
        if len(filled) > 1 and bool((abs(filled - _PER_CENT) <= slack).all()):
            about = "" if bool((filled == _PER_CENT).all()) else "about "
            note = (
                f"every {name} of the matrix adds up to {about}100, as percentages do; it was "
                f"read as counts of {int(counts.sum()):,} samples. Give the counts if these are "
                "percentages."
            )
            return [note]
    return []


def _sums(cells: NDArray[Any]) -> dict[str, NDArray[Any]]:
    return {"row": cells.sum(axis=PREDICTED_AXIS), "column": cells.sum(axis=ACTUAL_AXIS)}


def _whole_numbers(matrix: NDArray[Any]) -> NDArray[np.int64]:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise InvalidInput(
            f"the shape is {matrix.shape}.",
            field="matrix",
            hint="A confusion matrix is square, one row and one column for each class.",
        )
    if matrix.dtype.kind not in "iufbO":
        raise InvalidInput(
            f"cells of type {matrix.dtype} are not counts.",
            field="matrix",
            hint="Give whole numbers.",
        )
    if matrix.dtype.kind == "O":
        return _whole_objects(matrix)
    if matrix.dtype.kind == "f":
        _require_whole_floats(matrix)
    if matrix.dtype.kind in "if" and bool((matrix < 0).any()):
        raise _bad_cell(matrix, matrix < 0, "is negative", "Counts are 0 or more.")
    # The float sum cannot wrap, so it decides whether the exact sum fits int64.
    if float(matrix.astype(np.float64).sum()) >= LARGEST_TOTAL:
        raise _too_large()
    return matrix.astype(np.int64)


def _whole_objects(matrix: NDArray[Any]) -> NDArray[np.int64]:
    cells = [cell for row in matrix.tolist() for cell in row]
    if not all(isinstance(cell, int) for cell in cells):
        raise InvalidInput(
            "a cell is not a whole number.", field="matrix", hint="Give whole numbers."
        )
    if any(abs(cell) >= LARGEST_TOTAL for cell in cells):
        raise _too_large()
    if min(cells) < 0:
        raise _bad_cell(matrix, matrix < 0, "is negative", "Counts are 0 or more.")
    if sum(cells) >= LARGEST_TOTAL:
        raise _too_large()
    return matrix.astype(np.int64)


def _require_whole_floats(matrix: NDArray[Any]) -> None:
    broken = ~np.isfinite(matrix)
    if broken.any():
        raise _bad_cell(matrix, broken, "is not finite", "Give whole numbers.")
    fractional = matrix != np.floor(matrix)
    if fractional.any():
        raise _bad_cell(
            matrix, fractional, "is not whole", "Give counts, not shares or percentages."
        )


def _bad_cell(
    matrix: NDArray[Any], where: NDArray[np.bool_], what: str, hint: str
) -> InvalidInput:
    first, second = (int(place) for place in np.argwhere(where)[0])
    cell = matrix[first, second]
    return InvalidInput(f"cell [{first}][{second}] = {cell} {what}.", field="matrix", hint=hint)


def _too_large() -> InvalidInput:
    return InvalidInput(
        f"the counts add up to {LARGEST_TOTAL} or more.",
        field="matrix",
        hint="Totals up to 4.6e18 are supported.",
    )


def collapsed(matrix: ConfusionMatrix, onto: Collapse) -> ConfusionMatrix:
    """The matrix of the merged classes, where confusions inside a group are no longer errors.

    Total and orientation stay as they are, and accuracy can only rise.
    """
    return ConfusionMatrix(collapsed_counts(matrix.counts, onto), onto.labels)


def collapsed_counts(counts: NDArray[Any], onto: Collapse) -> NDArray[Any]:
    """Merge counts of shape (..., K, K) into (..., U, U) for the U classes that remain."""
    places = np.array(onto.places)
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], np.arange(len(onto.labels)))
    for axis in (STACK_ACTUAL_AXIS, STACK_PREDICTED_AXIS):
        counts = np.add.reduceat(np.take(counts, order, axis=axis), starts, axis=axis)
    return counts


EXACT_LEAVES = 300


def clustered_order(counts: NDArray[np.int64]) -> list[int]:
    """Codes of all classes of a matrix (K, K), with confused classes side by side.

    Deterministic; without any confusion the declared order is kept.
    """
    with optional:
        from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
        from scipy.spatial.distance import squareform

    n_classes = counts.shape[ACTUAL_AXIS]
    supports = counts.sum(axis=PREDICTED_AXIS, keepdims=True)
    shares = counts / np.maximum(supports, 1)
    similarity = shares + swap_axes(shares)
    np.fill_diagonal(similarity, 0.0)
    if n_classes < 3 or not similarity.any():
        return list(range(n_classes))
    distance = similarity.max() - similarity
    np.fill_diagonal(distance, 0.0)
    condensed = squareform(distance, checks=False)
    tree = linkage(condensed, "average")
    if n_classes <= EXACT_LEAVES:
        tree = optimal_leaf_ordering(tree, condensed)
    order: list[int] = leaves_list(tree).tolist()
    return order
