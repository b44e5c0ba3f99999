"""Sums of very many small fractions, kept exact as whole numbers.

Averages over sets add terms such as 2/3 and 5/7. In floating point the sum depends on the
order of the terms, so two workers that read chunks in another order disagree in the last
digit. Here the numerators are added up separately for every denominator; only the final value
is rounded, once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

_ALWAYS_A_TABLE = 1 << 16
"""Key ranges up to this size are added up in a table, whatever the number of terms."""


@dataclass(frozen=True, eq=False)
class Addends:
    """Numbers of one kind of thing, which are added up field by field."""

    def __add__(self, other: Self) -> Self:
        pairs = ((getattr(self, each.name), getattr(other, each.name)) for each in fields(self))
        return type(self)(*(one + another for one, another in pairs))


@dataclass(frozen=True, eq=False)
class ExactSums:
    """One exact sum for each of many cells, most of them zero.

    Three int64 arrays of one length, sorted by (cell, denominator) without repetition: the sum
    of a cell is that of its `numerator / denominator`. Numerators are positive.
    """

    cell: NDArray[np.int64]
    denominator: NDArray[np.int64]
    numerator: NDArray[np.int64]

    @classmethod
    def collect(
        cls,
        *,
        cell: NDArray[np.int64],
        denominator: NDArray[np.int64],
        numerator: NDArray[np.int64],
    ) -> ExactSums:
        """Add up terms in any order. Denominators are positive, numerators not negative."""
        width = int(denominator.max(initial=0)) + 1
        keys, added = _added_by_key(cell * width + denominator, numerator)
        cells, denominators = np.divmod(keys, width)
        return cls(cells, denominators, added)

    def __add__(self, other: ExactSums) -> ExactSums:
        return ExactSums.collect(
            cell=np.concatenate([self.cell, other.cell]),
            denominator=np.concatenate([self.denominator, other.denominator]),
            numerator=np.concatenate([self.numerator, other.numerator]),
        )

    def common_denominator(self) -> int:
        """The least common multiple of all denominators, 1 if there are none."""
        return math.lcm(*(int(value) for value in np.unique(self.denominator)))

    def over_common_denominator(self) -> dict[int, int]:
        """Numerator of every non-zero cell, over `common_denominator()`."""
        common = self.common_denominator()
        totals: dict[int, int] = {}
        parts = zip(
            self.cell.tolist(), self.denominator.tolist(), self.numerator.tolist(), strict=True
        )
        for cell, denominator, numerator in parts:
            totals[cell] = totals.get(cell, 0) + numerator * (common // denominator)
        return totals

    def total(self, cell: int) -> Fraction:
        """The exact sum of one cell."""
        low, high = np.searchsorted(self.cell, [cell, cell + 1])
        denominators = self.denominator[low:high].tolist()
        numerators = self.numerator[low:high].tolist()
        common = math.lcm(*denominators)
        return Fraction(
            sum(
                top * (common // bottom)
                for top, bottom in zip(numerators, denominators, strict=True)
            ),
            common,
        )


def _added_by_key(
    keys: NDArray[np.int64], terms: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sorted distinct keys that have a non-zero term, and the sums of their terms."""
    span = int(keys.max(initial=0)) + 1
    if span <= max(4 * len(keys), _ALWAYS_A_TABLE):
        table = np.zeros(span, dtype=np.int64)
        np.add.at(table, keys, terms)
        used = np.flatnonzero(table)
        return used, table[used]
    order = np.argsort(keys, kind="stable")
    keys, terms = keys[order], terms[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    added = np.add.reduceat(terms, first)
    used = np.flatnonzero(added)
    return keys[first][used], added[used]
