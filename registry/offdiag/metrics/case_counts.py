"""Counting cases, whether each of them has one class or a set of labels.

The two kinds are told apart by the shape of what is counted: codes of classes have one axis,
packed sets have two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.counting import count_labelled_pairs
from offdiag.metrics.multilabel.packing import is_known, unpack_sets
from offdiag.metrics.multilabel.tally import SetTally, tally_sets
from offdiag.metrics.multilabel.tally_numbers import tally_numbers

CaseCounts: TypeAlias = "NDArray[np.int64] | SetTally"
"""A confusion matrix (K, K) of classes, or everything counted about sets."""

CELLS_AT_ONCE = 1 << 24
"""Members of sets unpacked in one go; bounds the memory of counting."""


def are_sets(codes: NDArray[Any]) -> bool:
    """Whether these are packed sets of labels rather than codes of classes."""
    return codes.ndim == 2


def count_cases(actual: NDArray[Any], predicted: NDArray[Any], *, n_classes: int) -> CaseCounts:
    """Count the n cases whose truth is known. Raises `InvalidInput` for codes out of range."""
    if are_sets(predicted):
        return count_sets(actual, predicted, n_labels=n_classes)
    return count_labelled_pairs(actual, predicted, n_classes=n_classes)


def count_sets(actual: NDArray[Any], predicted: NDArray[Any], *, n_labels: int) -> SetTally:
    """Count packed sets, leaving out cases whose true set is not known."""
    step = max(1, CELLS_AT_ONCE // n_labels)
    total = _nothing(n_labels)
    for start in range(0, len(predicted), step):
        block = slice(start, start + step)
        known = is_known(actual[block], n_labels)
        total += tally_sets(
            unpack_sets(actual[block][known], n_labels),
            unpack_sets(predicted[block][known], n_labels),
        )
    return total


def added_up(parts: Iterable[CaseCounts], *, n_classes: int, of_sets: bool) -> CaseCounts:
    """The counts of all parts together, which are all of one kind."""
    if of_sets:
        return sum((part for part in parts if isinstance(part, SetTally)), _nothing(n_classes))
    total = np.zeros((n_classes, n_classes), dtype=np.int64)
    for part in parts:
        if not isinstance(part, SetTally):
            total += part
    return total


def are_equal(one: CaseCounts, other: CaseCounts) -> bool:
    """Whether two counts are of one kind and the same."""
    if isinstance(one, SetTally):
        return isinstance(other, SetTally) and np.array_equal(
            tally_numbers(one), tally_numbers(other)
        )
    return not isinstance(other, SetTally) and np.array_equal(one, other)


def _nothing(n_labels: int) -> SetTally:
    none = np.zeros((0, n_labels), dtype=np.bool_)
    return tally_sets(none, none)
