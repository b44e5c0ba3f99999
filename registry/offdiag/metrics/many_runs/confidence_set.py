"""Which of several runs may be the best, with one error level for all runs and metrics at once.

The model confidence set with the range statistic (Hansen, Lunde and Nason 2011, Econometrica 79,
453), stepped down as max-T tests are (Romano and Wolf 2005, Econometrica 73, 1237): a run is out
if some run that is still in beats it by more than the 1 - level quantile of the largest
|difference| / error that equally good runs would show; the quantile is then recomputed for the
remaining runs. Comparing each run only with the highest one would claim too much, because that
run was chosen for being highest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, erfc, isnan, sqrt

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.arguments import confidence_level, positive_count
from offdiag.metrics.gradients import Floats
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.many_runs.run_spread import RunSpread, difference_errors, differences
from offdiag.metrics.paired.simultaneous_tests import Statistic, smaller_statistic

DRAWS = 2_000
MOST_TESTED = 200
"""Runs tested per metric: those with the highest values. The rest are not tested."""
MOST_DRAWN_PAIRS = 100_000
"""Pairs of runs, over all metrics, up to which the quantile is drawn; above that, Bonferroni's is
used, which hardly differs for so many pairs."""
RUN_AXIS = 0
"""Axis of draws (m, d) along which the run changes."""
WINNER_AXIS, LAST_AXIS = 1, -1
"""Axes of statistics (Q, m, m): of the run that would be better, and of the other one."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Contest:
    """m runs compared by Q metrics that chance moves together.

    `values` (Q, m): higher is better, so costs have their sign changed, and NaN means undefined.
    `spread` belongs to the same metrics, with the signs of `linear` changed alike. Metrics (Q,)
    that are not in `is_tested` have values, but no claim is made about them. Draws are assigned
    to the runs in `order` (m,), so the order in which runs are given changes nothing.
    """

    values: Floats
    spread: RunSpread
    order: NDArray[np.intp]
    is_tested: Flags

    def without(self, runs: Sequence[int]) -> Contest:
        """The contest without the runs at these positions."""
        values = self.values.copy()
        values[:, list(runs)] = np.nan
        return replace(self, values=values)


@dataclass(frozen=True, slots=True)
class Compared:
    """A run compared by one metric with another run, against which it is judged.

    `rival` is the position of the other run and `difference` this run minus it; higher is
    better. The interval `difference` -+ `reach` excludes 0 if the run is out and contains it
    otherwise; `reach` is None if no interval agrees with the test. `p` is two-sided and for this
    difference alone; `p_adjusted` accounts for all runs and metrics and is below 1 - confidence
    exactly if the run is out; if drawn, it is at least 1 / (draws + 1). Both are None if nothing
    was tested.
    """

    rival: int
    difference: float
    reach: float | None
    p: float | None
    p_adjusted: float | None


@dataclass(frozen=True)
class BestSet:
    """What is known about the best of m runs by one metric.

    `is_tested` and `is_in` (m,) say for each run whether it was tested and whether it may be the
    best. `highest` are the runs with the highest value, several if tied; `compared` is None
    for them and for runs without a value.
    """

    is_tested: Flags
    is_in: Flags
    highest: tuple[int, ...]
    compared: tuple[Compared | None, ...]


@dataclass(frozen=True)
class PairTests:
    """Tests of all pairs of m runs by one metric; higher is better.

    The metric is the first one of `spread`. A difference between any two runs beyond `critical`
    standard errors is significant at one level for all pairs together, even if one of the two
    was chosen for being highest.
    """

    values: Floats
    spread: RunSpread
    critical: float

    def statistic(self, run: int, rival: int) -> Statistic:
        """The run minus its rival, both given by position."""
        difference = float(self.values[run] - self.values[rival])
        return self.spread.statistic(difference, (0, run, rival))


_LEVEL = 0.95


def best_set_and_pairs(contest: Contest, *, seed: int) -> tuple[BestSet, PairTests | None]:
    """The 95 % set of the first metric, as in `confidence_sets`, and the tests of all pairs.

    If the metric is not tested, neither are the pairs.
    """
    stage = _first_stage(contest, seed, 0, _LEVEL, DRAWS)
    pairs = _pairs_of(contest, stage, _LEVEL, DRAWS) if contest.is_tested[0] else None
    _take_out([stage], _LEVEL, DRAWS)
    return stage.found()[0], pairs


def confidence_sets(
    contests: Sequence[Contest],
    *,
    seed: int,
    confidence: float = 0.95,
    draws: int = DRAWS,
) -> list[tuple[BestSet, ...]]:
    """The set of each metric of each contest; all hold together with this confidence.

    Contests must be independent of each other, such as the recalls of different classes. The
    same runs in another order give the same sets. With more than 200 runs, the 200 highest by
    each metric are tested. Raises `InvalidInput` for a confidence outside (0, 1) or no draws.
    """
    level, count = confidence_level(confidence), positive_count(draws, field="draws")
    stages = [
        _first_stage(contest, seed, number, level, count)
        for number, contest in enumerate(contests)
    ]
    _take_out(stages, level, count)
    return [stage.found() for stage in stages]


def _first_stage(contest: Contest, seed: int, number: int, level: float, draws: int) -> _Stage:
    return _Stage(contest, _Draws(contest, seed=(seed, number), draws=draws), level)


def _pairs_of(contest: Contest, stage: _Stage, level: float, draws: int) -> PairTests:
    """The tests of pairs at the first stage, in which all runs are still in."""
    critical = _null([stage], level, draws).critical
    return PairTests(contest.values[0], contest.spread, critical)


def _take_out(stages: Sequence[_Stage], level: float, draws: int) -> None:
    n_out = -1
    while n_out:
        null = _null(stages, level, draws)
        n_out = sum(stage.step(null) for stage in stages)


@dataclass(frozen=True)
class _Null:
    """The distribution of the largest |difference| / error of equally good runs.

    `largest` are draws from it in ascending order, None for Bonferroni's bound over `n_pairs`.
    """

    largest: Floats | None
    n_pairs: int
    critical: float

    def p(self, t: Floats) -> Floats:
        """How often chance alone reaches t or more, at least as often as for two runs alone.

        The observed statistics count as one of the draws, so no p is smaller than the draws can
        show (Phipson and Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9, 39).
        """
        alone = np.array([_normal_p(each) for each in t.flat]).reshape(t.shape)
        if self.largest is None:
            together: Floats = alone * self.n_pairs
            return np.minimum(together, 1.0)
        n_draws = len(self.largest)
        reached = (n_draws - np.searchsorted(self.largest, t) + 1) / (n_draws + 1)
        at_least: Floats = np.maximum(reached, alone)
        return at_least


def _null(stages: Sequence[_Stage], level: float, draws: int) -> _Null:
    n_pairs = sum(stage.n_pairs for stage in stages)
    alone = normal_quantile(level)
    if n_pairs < 2:
        return _Null(None, 1, alone)
    if n_pairs > MOST_DRAWN_PAIRS:
        return _Null(None, n_pairs, normal_quantile(1 - (1 - level) / n_pairs))
    largest = np.zeros(draws)
    for stage in stages:
        np.maximum(largest, stage.largest(), out=largest)
    largest.sort()
    # What exceeds this draw has a p value below 1 - level; rounding must not move the position.
    place = min(ceil(level * (draws + 1) - 1e-9), draws) - 1
    return _Null(largest, n_pairs, max(float(largest[place]), alone))


class _Stage:
    """A contest in progress: which runs are still in, and what was found about the others."""

    def __init__(self, contest: Contest, draws: _Draws, level: float) -> None:
        values = contest.values
        self._draws = draws
        self._values = values
        self._differences = differences(values)
        spread = self._spread = contest.spread
        self._t = smaller_statistic(
            self._differences, spread.linear, spread.errors, spread.own_errors
        )
        self._is_tested = _tested(values, self._t) & contest.is_tested[:, np.newaxis]
        self._is_in = self._is_tested.copy()
        self._highest = [_highest(each) for each in values]
        self._by_highest = np.stack(
            [_strongest(t, highest) for t, highest in zip(self._t, self._highest, strict=True)]
        )
        self._rival = self._by_highest.copy()
        self._critical = np.full(values.shape, normal_quantile(level))
        self._p = np.ones(values.shape)
        self._largest: Floats | None = None

    @property
    def n_pairs(self) -> int:
        inside = np.count_nonzero(self._is_in, axis=LAST_AXIS)
        return int((inside * (inside - 1) // 2).sum())

    def largest(self) -> Floats:
        """The largest |difference| / error among those still in, for each draw."""
        if self._largest is None:
            self._largest = self._draws.largest(self._is_in)
        return self._largest

    def step(self, null: _Null) -> int:
        """Remove the runs that are beaten by more than chance, and return how many."""
        is_known = self._is_in[:, :, np.newaxis] & ~np.isnan(self._t)
        against = np.where(is_known, self._t, 0.0)
        strongest = against.max(axis=WINNER_AXIS)
        # The highest run is never out: none has a higher value.
        of_highest = _at(against, self._by_highest)
        only_another = (strongest > null.critical) & ~(of_highest > null.critical)
        rival = np.where(only_another, against.argmax(axis=WINNER_AXIS), self._by_highest)
        inside = self._is_in
        self._rival = np.where(inside, rival, self._rival)
        self._critical = np.where(inside, null.critical, self._critical)
        self._p = np.where(inside, null.p(_at(against, rival)), self._p)
        out = inside & (strongest > null.critical)
        if out.any():
            self._is_in = inside & ~out
            self._largest = None
        return int(np.count_nonzero(out))

    def found(self) -> tuple[BestSet, ...]:
        return tuple(
            BestSet(
                self._is_tested[metric],
                self._is_in[metric],
                highest,
                tuple(
                    None
                    if run in highest or isnan(self._values[metric, run])
                    else self._compared(metric, run)
                    for run in range(self._values.shape[LAST_AXIS])
                ),
            )
            for metric, highest in enumerate(self._highest)
        )

    def _compared(self, metric: int, run: int) -> Compared:
        rival = int(self._rival[metric, run])
        at = (metric, run, rival)
        statistic = self._spread.statistic(float(self._differences[at]), at)
        if not self._is_tested[metric, run] or isnan(statistic.t):
            return Compared(rival, statistic.difference, None, None, None)
        return Compared(
            rival,
            statistic.difference,
            statistic.reach(float(self._critical[metric, run])),
            _normal_p(abs(statistic.t)),
            float(self._p[metric, run]),
        )


class _Draws:
    """Draws of what chance alone does to the runs of a contest, the same at every step."""

    def __init__(self, contest: Contest, *, seed: tuple[int, int], draws: int) -> None:
        n_metrics, n_runs = contest.values.shape
        usable = np.isfinite(np.diagonal(contest.spread.covariance))
        covariance = np.where(usable[:, np.newaxis] & usable, contest.spread.covariance, 0.0)
        values, vectors = np.linalg.eigh(_centred(covariance, n_runs))
        # The symmetric root does not depend on the choice of eigenvectors or the order of runs.
        self._root = np.inner(vectors * np.sqrt(np.maximum(values, 0.0)), vectors)
        errors = difference_errors(covariance, n_runs)
        self._per_error = np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0)
        self._order = contest.order
        self._seed = seed
        self._shape = (n_metrics, n_runs, draws)

    def largest(self, is_in: Flags) -> Floats:
        """The largest |difference| / error over metrics and pairs of runs still in, (d,)."""
        n_metrics, n_runs, n_draws = self._shape
        drawn = np.random.default_rng(self._seed).standard_normal((n_metrics, n_runs, n_draws))
        dealt = np.empty_like(drawn)
        dealt[:, self._order] = drawn
        moved = (self._root @ dealt.reshape(n_metrics * n_runs, n_draws)).reshape(self._shape)
        found = np.zeros(n_draws)
        for metric, inside in enumerate(is_in):
            runs = np.flatnonzero(inside)
            here, scale = moved[metric, runs], self._per_error[metric][np.ix_(runs, runs)]
            for place in range(len(runs) - 1):
                apart = np.abs(here[place + 1 :] - here[place])
                apart *= scale[place, place + 1 :, np.newaxis]
                np.maximum(found, apart.max(axis=RUN_AXIS), out=found)
        return found


def _centred(covariance: Floats, n_runs: int) -> Floats:
    """The covariance without the part common to all runs, which cancels in differences."""
    blocks = covariance.reshape(-1, n_runs, len(covariance) // n_runs, n_runs)
    blocks = blocks - blocks.mean(axis=WINNER_AXIS, keepdims=True)
    centred: Floats = blocks - blocks.mean(axis=LAST_AXIS, keepdims=True)
    return centred.reshape(covariance.shape)


def _highest(values: Floats) -> tuple[int, ...]:
    """The runs with the highest value (m,); none where no run has one."""
    best = np.max(values, initial=-np.inf, where=~np.isnan(values))
    return tuple(np.flatnonzero(values == best).tolist())


def _strongest(t: Floats, among: Sequence[int]) -> NDArray[np.intp]:
    """The run that beats each run most clearly, by statistics (m, m); 0 if none does."""
    if not among:
        return np.zeros(len(t), np.intp)
    beating = np.nan_to_num(t[list(among)], nan=-1.0)
    strongest: NDArray[np.intp] = np.array(among, np.intp)[beating.argmax(axis=RUN_AXIS)]
    return strongest


def _at(t: Floats, winner: NDArray[np.intp]) -> Floats:
    """The statistics (Q, m), out of (Q, m, m), of each run against its `winner`."""
    return np.take_along_axis(t, winner[:, np.newaxis], axis=WINNER_AXIS)[:, 0]


def _tested(values: Floats, t: Floats) -> Flags:
    """Runs whose value can be tested against another; if there are many, only the highest."""
    n_runs = values.shape[LAST_AXIS]
    has_value = ~np.isnan(values)
    others = ~np.eye(n_runs, dtype=np.bool_)
    is_alone = np.count_nonzero(has_value, axis=LAST_AXIS) == 1
    tested: Flags = has_value & (
        (~np.isnan(t) & others).any(axis=WINNER_AXIS) | is_alone[:, np.newaxis]
    )
    if n_runs > MOST_TESTED:
        badness = np.where(tested, -values, np.inf)
        limit = np.partition(badness, MOST_TESTED - 1, axis=LAST_AXIS)[:, MOST_TESTED - 1]
        tested &= badness <= limit[:, np.newaxis]
    return tested


def _normal_p(t: float) -> float:
    """P(|Z| >= t) of a standard normal Z."""
    return erfc(t / sqrt(2))
