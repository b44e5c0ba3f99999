"""Finding all 2 x 2 tables of whole numbers that fit published values.

With t0 and t1 cases of two classes a table is fixed by the hits of the first class and the
false alarms for it. Trying all (t0 + 1)(t1 + 1) is hopeless for large test sets and needless:
every metric that judges a classifier gets no worse with one hit more and no better with one
false alarm more (the tests try all of them). So for given hits the false alarms that fit a
value form a range, found by bisection; several values fit on the common part of their ranges;
and the hits that can fit at all form a range, too.

Metrics are undefined only where one class is never predicted. Those two tables are looked at
by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from offdiag.flags.audit.definitions import described
from offdiag.flags.audit.feasible import Constraint, Counts, FeasibleTables, Run, Sizes
from offdiag.flags.audit.interval import ROUNDING, Interval
from offdiag.flags.audit.table_values import Floats, is_met, table_values
from offdiag.metrics.catalogue import Direction

MOST_ROWS = 20_000
"""With more numbers of hits to go through, fitting tables are not searched."""
MOST_TRIED = 200_000
"""Up to this many tables are tried one by one for metrics that rise and fall."""
MOST_ROUNDS = 12
PROBES = 64
"""Places looked at in one step of a search: as fast as one, and worth six halvings."""
NOT_MONOTONE = frozenset({"mutual_information", "normalized_mutual_information", "predicted_rate"})
UNDEFINED = Interval(np.inf, np.inf)
"""What a metric that must be undefined may be where it is a positive number over zero."""

Constraints = tuple[Constraint, ...]


@lru_cache(maxsize=128)  # An answer may hold twenty thousand runs.
def feasible_tables(sizes: Sizes, constraints: Constraints) -> FeasibleTables:
    """All tables of so many actual cases whose metrics meet every constraint, within 1e-12."""
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
    """The same where all cases are of one class: few tables, in which most is undefined."""
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

    Rows are the hits of whichever class leaves fewer of them open.
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
    """A constrained metric with its sign such that it rises with hits and falls with alarms."""

    def __init__(self, constraint: Constraint, sizes: Sizes) -> None:
        allowed = constraint.allowed or UNDEFINED
        self._constraint, self._sizes = constraint, sizes
        self._sign = -1 if described(constraint.key).direction is Direction.LOWER else 1
        ends = sorted((self._sign * allowed.low, self._sign * allowed.high))
        self.low, self.high = ends[0] - ROUNDING, ends[1] + ROUNDING

    def __call__(self, hits: Counts, alarms: Counts) -> Floats:
        """Values, at the two tables with a single answer those of a neighbour."""
        first, second = self._sizes
        alarms = np.where((hits == 0) & (alarms == 0), 1, alarms)
        alarms = np.where((hits == first) & (alarms == second), second - 1, alarms)
        key, code = self._constraint.key, self._constraint.code
        return self._sign * table_values(key, code, hits, alarms, self._sizes)


def _first(holds: Callable[[Counts], object], low: Counts, high: Counts) -> Counts:
    """In each row the first place from low to high at which `holds`, else high + 1.

    `holds` takes one place for each row and, once true, stays true for larger places.
    """
    start, end = low.copy(), high + 1
    while (start < end).any():
        middle = np.minimum((start + end) // 2, high)
        open_, true = start < end, np.asarray(holds(middle))
        end = np.where(open_ & true, middle, end)
        start = np.where(open_ & ~true, middle + 1, start)
    return end


def _shrunk(box: Run, constraints: Constraints, sizes: Sizes) -> Run | None:
    """A smaller box that holds every fitting table with two answers; None if there is none.

    The best table of the box must reach the lower end of each constraint and the worst one
    must not exceed the upper end, which moves the edges in, until they stay.
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
    """The first place from low to high at which `holds`, else high + 1; many places at once."""
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
