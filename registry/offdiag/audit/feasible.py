"""The 2 x 2 tables of whole numbers that fit published values, and how they are found.

With t0 and t1 samples of two classes a table is determined by the hits of the first class and the
false alarms for it. Trying all (t0 + 1)(t1 + 1) is hopeless for large test sets, and unnecessary:
every metric that judges a classifier gets no worse with one more hit and no better with one
more false alarm (the tests try all of them). So for given hits the false alarms that fit a
value form a range, found by bisection; several values fit on the intersection of their ranges;
and the hits that can fit at all also form a range.

Metrics are undefined only where one class is never predicted. Those two tables are checked
separately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from offdiag.audit.definitions import described
from offdiag.audit.printed import ROUNDING, Interval
from offdiag.metrics.catalogue import Direction
from offdiag.metrics.suite import PER_CLASS_KEYS, evaluate_stack

Counts = NDArray[np.int64]
Sizes = tuple[int, int]
"""Actual samples of the first and of the second class."""
Table = tuple[tuple[int, int], tuple[int, int]]
"""((hits, misses), (false alarms, right rejections)) of the first class, actual class first."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A published value of a metric, for one of the two classes (code 0, 1) or for the whole.

    `allowed` None means that the metric must be undefined.
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
    """The tables of `sizes` actual samples that fit, as disjoint runs of tables.

    `is_complete` is False if there were too many candidates to search. Then `runs` is
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


Floats = NDArray[np.float64]
_CLASS_KEYS = frozenset(PER_CLASS_KEYS)


def table_values(key: str, code: int | None, hits: Counts, alarms: Counts, sizes: Sizes) -> Floats:
    """A metric of tables given by hits and false alarms of the first class, shape (R,).

    Undefined values are NaN, positive numbers over zero +inf. Weighted kappas treat the two
    classes as ordered, which makes no difference for two classes.
    """
    first, second = sizes
    cells = np.stack([hits, first - hits, alarms, second - alarms], axis=-1)
    suite = evaluate_stack(cells.astype(np.int64).reshape(-1, 2, 2), ordinal=True)
    quantity = suite.per_class[key] if key in _CLASS_KEYS else suite.aggregate[key]
    values = np.where(quantity.to_infinity, np.inf, quantity.value)
    return values if code is None else values[:, code]


def is_met(values: Floats, allowed: Interval | None) -> NDArray[np.bool_]:
    """Where values lie in the allowed interval; for None, where there is no finite value."""
    if allowed is None:
        return ~np.isfinite(values)
    with np.errstate(invalid="ignore"):
        met = (values >= allowed.low - ROUNDING) & (values <= allowed.high + ROUNDING)
    return np.asarray(met | np.isnan(values)) if allowed.or_undefined else np.asarray(met)


MOST_ROWS = 20_000
"""Most numbers of hits to go through; beyond that, fitting tables are not searched."""
MOST_TRIED = 200_000
"""Up to this many tables are tried one by one for metrics that rise and fall."""
MOST_ROUNDS = 12
PROBES = 64
"""Positions tried in one search step: as fast as one, and worth six halvings."""
NOT_MONOTONE = frozenset({"mutual_information", "normalized_mutual_information", "predicted_rate"})
UNDEFINED = Interval(np.inf, np.inf)
"""Allowed values of a metric that must be undefined if it is a positive number over zero."""

Constraints = tuple[Constraint, ...]


@lru_cache(maxsize=128)  # An answer may hold twenty thousand runs.
def feasible_tables(sizes: Sizes, constraints: Constraints) -> FeasibleTables:
    """All tables with these actual samples whose metrics meet every constraint, within 1e-12."""
    first, second = sizes
    if first == 0 or second == 0:
        return _by_trial(sizes, constraints)
    monotone = tuple(c for c in constraints if c.key not in NOT_MONOTONE)
    box = _shrunk(Run(0, first, 0, second), monotone, sizes)
    runs = _runs_in(box, monotone, sizes)
    if runs is None:
        return FeasibleTables(sizes, (), is_complete=False)
    others = tuple(c for c in constraints if c.key in NOT_MONOTONE)
    if others and sum(run.count for run in runs) <= MOST_TRIED:
        runs = _tried(runs, others, sizes)
    one_answer = [Run(0, 0, 0, 0), Run(first, first, second, second)]
    return FeasibleTables(sizes, (*runs, *_tried(one_answer, constraints, sizes)))


def _by_trial(sizes: Sizes, constraints: Constraints) -> FeasibleTables:
    """The tables if all samples are of one class: few, and most metrics are undefined in them."""
    everything = Run(0, sizes[0], 0, sizes[1])
    if everything.count > MOST_TRIED:
        return FeasibleTables(sizes, (), is_complete=False)
    return FeasibleTables(sizes, tuple(_tried([everything], constraints, sizes)))


def _tried(runs: list[Run], constraints: Constraints, sizes: Sizes) -> list[Run]:
    """Each table of the runs that meets every constraint, as a run of its own."""
    hits, alarms = FeasibleTables(sizes, tuple(runs)).places()
    fits = np.ones(len(hits), np.bool_)
    for c in constraints:
        fits &= is_met(table_values(c.key, c.code, hits, alarms, sizes), c.allowed)
    pairs = zip(hits[fits].tolist(), alarms[fits].tolist(), strict=True)
    return [Run(hit, hit, alarm, alarm) for hit, alarm in pairs]


def _runs_in(box: Run | None, constraints: Constraints, sizes: Sizes) -> list[Run] | None:
    """Fitting tables in which both classes are predicted; None if there are too many rows.

    Rows are the hits of whichever class has fewer possible values.
    """
    if box is None:
        return []
    if min(box.n_hits, box.n_alarms) > MOST_ROWS:
        return None
    if box.n_hits <= box.n_alarms:
        return _runs_by_hits(box, constraints, sizes)
    reverse = (sizes[1], sizes[0])
    exchanged = tuple(c if c.code is None else replace(c, code=1 - c.code) for c in constraints)
    runs = _runs_by_hits(box.seen_from_the_other_class(sizes), exchanged, reverse)
    return [run.seen_from_the_other_class(reverse) for run in runs]


def _runs_by_hits(box: Run, constraints: Constraints, sizes: Sizes) -> list[Run]:
    hits = np.arange(box.fewest_hits, box.most_hits + 1)
    # With both classes predicted at least once, every metric is defined.
    fewest = np.maximum(box.fewest_alarms, (hits == 0).astype(np.int64))
    most = np.minimum(box.most_alarms, sizes[1] - (hits == sizes[0]).astype(np.int64))
    for constraint in constraints:
        some = fewest <= most
        hits, fewest, most = hits[some], fewest[some], most[some]
        rising = _Rising(constraint, sizes)
        fewest, end = (
            _first(lambda a: rising(hits, a) <= rising.high, fewest, most),  # noqa: B023  Called at once.
            _first(lambda a: rising(hits, a) < rising.low, fewest, most),  # noqa: B023
        )
        most = end - 1
    some = fewest <= most
    rows = zip(hits[some].tolist(), fewest[some].tolist(), most[some].tolist(), strict=True)
    return [Run(hit, hit, low, high) for hit, low, high in rows]


class _Rising:
    """A constrained metric, with the sign that makes it rise with hits and fall with alarms."""

    def __init__(self, constraint: Constraint, sizes: Sizes) -> None:
        allowed = constraint.allowed or UNDEFINED
        self._constraint, self._sizes = constraint, sizes
        self._sign = -1 if described(constraint.key).direction is Direction.LOWER else 1
        ends = sorted((self._sign * allowed.low, self._sign * allowed.high))
        self.low, self.high = ends[0] - ROUNDING, ends[1] + ROUNDING

    def __call__(self, hits: Counts, alarms: Counts) -> Floats:
        """Values; the two tables that predict a single class get the value of a neighbour."""
        first, second = self._sizes
        alarms = np.where((hits == 0) & (alarms == 0), 1, alarms)
        alarms = np.where((hits == first) & (alarms == second), second - 1, alarms)
        key, code = self._constraint.key, self._constraint.code
        return self._sign * table_values(key, code, hits, alarms, self._sizes)


def _first(holds: Callable[[Counts], object], low: Counts, high: Counts) -> Counts:
    """In each row, the first position from low to high where `holds` is true, else high + 1.

    `holds` takes one position for each row and, once true, stays true for larger ones.
    """
    start, end = low.copy(), high + 1
    while (start < end).any():
        middle = np.minimum((start + end) // 2, high)
        open_, true = start < end, np.asarray(holds(middle))
        end = np.where(open_ & true, middle, end)
        start = np.where(open_ & ~true, middle + 1, start)
    return end


def _shrunk(box: Run, constraints: Constraints, sizes: Sizes) -> Run | None:
    """A smaller box with every fitting table that predicts both classes; None if there is none.

    The best table of the box must reach the lower end of each constraint and the worst one
    must not exceed the upper end, which moves the edges in until they no longer change.
    """
    for _ in range(MOST_ROUNDS):
        before = box
        for constraint in constraints:
            shrunk = _shrunk_by(box, _Rising(constraint, sizes))
            if shrunk is None:
                return None
            box = shrunk
        if box == before:
            break
    return box


def _shrunk_by(box: Run, rising: _Rising) -> Run | None:
    def along_hits(hits: Counts, alarms: int) -> Floats:
        return rising(hits, np.full_like(hits, alarms))

    def along_alarms(alarms: Counts, hits: int) -> Floats:
        return rising(np.full_like(alarms, hits), alarms)

    h0, h1, a0, a1 = box.fewest_hits, box.most_hits, box.fewest_alarms, box.most_alarms
    fewest_hits = _first_of_many(lambda hits: along_hits(hits, a0) >= rising.low, h0, h1)
    most_hits = _first_of_many(lambda hits: along_hits(hits, a1) > rising.high, h0, h1) - 1
    if fewest_hits > most_hits:
        return None
    fewest_alarms = _first_of_many(
        lambda alarms: along_alarms(alarms, fewest_hits) <= rising.high, a0, a1
    )
    most_alarms = (
        _first_of_many(lambda alarms: along_alarms(alarms, most_hits) < rising.low, a0, a1) - 1
    )
    if fewest_alarms > most_alarms:
        return None
    return Run(fewest_hits, most_hits, fewest_alarms, most_alarms)


def _first_of_many(holds: Callable[[Counts], object], low: int, high: int) -> int:
    """The first position from low to high where `holds` is true, else high + 1; in large steps."""
    start, end = low, high + 1
    while start < end:
        places = np.unique(np.linspace(start, end - 1, min(PROBES, end - start)).astype(np.int64))
        true = np.flatnonzero(np.asarray(holds(places)))
        if true.size == 0:
            start = int(places[-1]) + 1
            continue
        found = int(true[0])
        end = int(places[found])
        start = int(places[found - 1]) + 1 if found else end
    return end
