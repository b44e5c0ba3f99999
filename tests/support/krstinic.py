"""Algorithm 1 of Krstinic et al. (2020), written down set by set in fractions.

Slow and literal on purpose: the vectorised matrix is compared with it cell by cell. The second
part is the worked example of the paper, Tables 4 to 7, and the single-label Tables 1 to 3 with
the recall of label 3 as its own Table 3 has it (.70; Table 1 prints .80).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

Labels = frozenset[int]

ACTUAL_SETS = ("1100", "0110", "0001", "1111", "0110", "0110", "0101")
PREDICTED_SETS = ("1100", "1110", "1001", "0111", "0100", "1100", "1010")

TABLE_4_CONTRIBUTIONS = (
    ("1 0 0 0", "0 1 0 0", "0 0 0 0", "0 0 0 0"),
    ("0 0 0 0", "1/3 2/3 0 0", "1/3 0 2/3 0", "0 0 0 0"),
    ("0 0 0 0", "0 0 0 0", "0 0 0 0", "1/2 0 0 1/2"),
    ("0 1/3 1/3 1/3", "0 1 0 0", "0 0 1 0", "0 0 0 1"),
    ("0 0 0 0", "0 1 0 0", "0 1 0 0", "0 0 0 0"),
    ("0 0 0 0", "0 1 0 0", "1 0 0 0", "0 0 0 0"),
    ("0 0 0 0", "1/2 0 1/2 0", "0 0 0 0", "1/2 0 1/2 0"),
)
"""Contribution of each of the seven cases."""

EXACT_TABLE_5 = (
    "1 1/3 1/3 1/3",
    "5/6 14/3 1/2 0",
    "4/3 1 5/3 0",
    "1 0 1/2 3/2",
)


def indicator(words: Iterable[str]) -> NDArray[np.bool_]:
    """Words such as "0110" as rows of an (n, q) indicator array."""
    return np.array([[letter == "1" for letter in word] for word in words])


def fractions_of(rows: Iterable[str]) -> list[list[Fraction]]:
    return [[Fraction(cell) for cell in row.split()] for row in rows]


def contribution(actual: Labels, predicted: Labels, n_labels: int) -> list[list[Fraction]]:
    """The matrix one case adds; both sets must have an element."""
    missed, spurious, common = actual - predicted, predicted - actual, actual & predicted
    own, moved = Fraction(1), Fraction(0)
    giving, receiving = missed, spurious
    if spurious and not missed:
        own, moved = Fraction(len(actual), len(predicted)), Fraction(1, len(predicted))
        giving = actual
    elif missed and not spurious:
        moved = Fraction(1, len(predicted))
        receiving = predicted
    elif missed and spurious:
        moved = Fraction(1, len(spurious))
    cells = [[Fraction(0)] * n_labels for _ in range(n_labels)]
    for label in common:
        cells[label][label] += own
    for label, other in product(giving, receiving):
        cells[label][other] += moved
    return cells


def matrix_of(actual: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> list[list[Fraction]]:
    """The sum of all contributions of samples with two non-empty sets."""
    n_labels = actual.shape[1]
    total = [[Fraction(0)] * n_labels for _ in range(n_labels)]
    for truth, answer in zip(actual, predicted, strict=True):
        if truth.any() and answer.any():
            added = contribution(_as_set(truth), _as_set(answer), n_labels)
            total = [
                [left + right for left, right in zip(first, second, strict=True)]
                for first, second in zip(total, added, strict=True)
            ]
    return total


def _as_set(row: NDArray[np.bool_]) -> Labels:
    return frozenset(int(label) for label in np.flatnonzero(row))
