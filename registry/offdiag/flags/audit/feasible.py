"""The 2 x 2 tables that fit published values: what is asked, and the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.flags.audit.interval import Interval

Counts = NDArray[np.int64]
Sizes = tuple[int, int]
"""Actual cases of the first and of the second class."""
Table = tuple[tuple[int, int], tuple[int, int]]
"""((hits, misses), (false alarms, right rejections)) of the first class, actual class first."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A published value: of a metric, for one of the two classes (code 0, 1) or of the whole.

    `allowed` None says that the metric must be undefined.
    """

    key: str
    code: int | None
    allowed: Interval | None


@dataclass(frozen=True, slots=True)
class Run:
    """All tables whose hits and false alarms lie in these ranges, ends included."""

    fewest_hits: int
    most_hits: int
    fewest_alarms: int
    most_alarms: int

    @property
    def n_hits(self) -> int:
        return self.most_hits - self.fewest_hits + 1

    @property
    def n_alarms(self) -> int:
        return self.most_alarms - self.fewest_alarms + 1

    @property
    def count(self) -> int:
        return self.n_hits * self.n_alarms

    def seen_from_the_other_class(self, sizes: Sizes) -> Run:
        """The same tables with the classes of these sizes exchanged.

        Hits of the other class are the right rejections, its false alarms the misses.
        """
        first, second = sizes
        return Run(
            second - self.most_alarms,
            second - self.fewest_alarms,
            first - self.most_hits,
            first - self.fewest_hits,
        )


@dataclass(frozen=True)
class FeasibleTables:
    """The tables of `sizes` actual cases that fit, as runs without a table in common.

    `is_complete` is False if there were too many candidates to go through. Then `runs` is
    empty and nothing is refuted.
    """

    sizes: Sizes
    runs: tuple[Run, ...]
    is_complete: bool = True

    @property
    def is_impossible(self) -> bool:
        return self.is_complete and not self.runs

    @property
    def count(self) -> int:
        """How many tables fit."""
        return sum(run.count for run in self.runs)

    def __iter__(self) -> Iterator[Table]:
        first, second = self.sizes
        for run in self.runs:
            for hits in range(run.fewest_hits, run.most_hits + 1):
                for alarms in range(run.fewest_alarms, run.most_alarms + 1):
                    yield (hits, first - hits), (alarms, second - alarms)

    def places(self) -> tuple[Counts, Counts]:
        """Hits and false alarms of all tables, arrays of shape (count,)."""
        pairs = [(hits, alarms) for (hits, _), (alarms, _) in self]
        return _columns(pairs)

    def corners(self) -> tuple[Counts, Counts]:
        """Hits and false alarms of the extreme tables of each run."""
        return _columns(
            [
                (hits, alarms)
                for run in self.runs
                for hits in (run.fewest_hits, run.most_hits)
                for alarms in (run.fewest_alarms, run.most_alarms)
            ]
        )


def _columns(pairs: list[tuple[int, int]]) -> tuple[Counts, Counts]:
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]
