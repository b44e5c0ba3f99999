"""Which of several runs on the same samples may be the best, by metrics, recall or cost.

    runs = PairedRuns(actual, predictions, labels)
    (sets,) = confidence_sets([metric_contest(runs, keys)], seed=1)

gives the set of each key, with one error level for all keys together.

A run that was chosen for being highest is, on average, not as good as its value: of fifty
equally good runs on 200 samples the highest is 4.5 points above what it reaches elsewhere. Each
draw here chooses the best run on the drawn samples and evaluates it on the others, which removes
that optimism.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.aggregates import AGGREGATES
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import cost_gradients
from offdiag.metrics.counted import Unweighted
from offdiag.metrics.gradients import Floats
from offdiag.metrics.intervals.costs import cost_values
from offdiag.metrics.intervals.delta import aggregate_gradients
from offdiag.metrics.intervals.draws import generator
from offdiag.metrics.many_runs.confidence_set import Contest
from offdiag.metrics.many_runs.paired_runs import PairedRuns, RunsTogether
from offdiag.metrics.many_runs.run_spread import RunSpread, spread_of_recall
from offdiag.metrics.multilabel.label_averages import MACRO
from offdiag.metrics.multilabel.suite import OF_SETS
from offdiag.metrics.orientation import PREDICTED_AXIS
from offdiag.metrics.paired.unseen_hits import unseen_between_runs
from offdiag.metrics.spec import Direction
from offdiag.metrics.suite import labelled_suite

FEWEST_SAMPLES = 5
"""Samples of a class below which neither its recall nor an average over classes is tested."""
RUN_AXIS = 0


def metric_contest(runs: RunsTogether, keys: Sequence[str]) -> Contest:
    """A contest of runs by aggregate metrics that have a gradient.

    Averages over classes are not tested if a class has fewer than five samples.
    """
    counts = np.stack([matrix.counts for matrix in runs.matrices])
    suite = labelled_suite(counts, runs.labels).aggregate
    signs = signs_of(keys)
    own = [aggregate_gradients(matrix, keys) for matrix in runs.matrices]
    pooled = aggregate_gradients(runs.pooled, keys, n_runs=runs.n_runs)
    spread = runs.spread(pooled, own)
    unseen = unseen_between_runs(runs.matrices, own, runs.both_right)
    spread = replace(spread, own_errors=np.hypot(spread.own_errors, unseen))
    return Contest(
        signs * np.stack([suite[key].value for key in keys]),
        turned(spread, signs),
        runs.order,
        tested_metrics(keys, runs.matrices),
    )


def recall_contests(runs: RunsTogether) -> tuple[Contest, ...]:
    """One contest per class, by its recall, in label order; not tested below five samples.

    The samples of one class say nothing about another, so each class is a separate contest.
    """
    return contests_of_recall(runs.both_right, runs.matrices[0].actual, runs.order)


def contests_of_recall(
    both_right: NDArray[np.int64], cases: NDArray[np.int64], order: NDArray[np.intp]
) -> tuple[Contest, ...]:
    """The contests from the samples of each class or label that two runs both find, (K, m, m)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        recall = [np.diagonal(both) / total for both, total in zip(both_right, cases, strict=True)]
    is_large = (cases == 0) | (cases >= FEWEST_SAMPLES)
    return tuple(
        Contest(values[np.newaxis], spread, order, is_large[code : code + 1])
        for code, (values, spread) in enumerate(
            zip(recall, spread_of_recall(both_right, cases), strict=True)
        )
    )


def cost_contest(
    runs: PairedRuns, costs: CostMatrix, *, prevalence: Floats | None = None
) -> Contest:
    """A contest of runs by what their errors cost, the least first.

    At another `prevalence` (K,) the cost is an average over classes: it is not tested if a
    class that counts has fewer than five samples.
    """
    counts = np.stack([matrix.counts for matrix in runs.matrices])
    values = cost_values(counts, costs, prevalence)["mean_cost"]
    gradient = cost_gradients(runs.pooled, costs, prevalence)["mean_cost"]
    is_small = small_classes(runs.matrices) & (prevalence is not None and prevalence > 0)
    return Contest(
        -values[np.newaxis],
        turned(runs.spread({"mean_cost": gradient}), np.array([[-1.0]])),
        runs.order,
        np.array([not is_small.any()]),
    )


def signs_of(keys: Sequence[str]) -> Floats:
    """-1 for aggregates for which lower is better, 1 for others, shape (Q, 1)."""
    specs = (AGGREGATES.get(key) or OF_SETS[key] for key in keys)
    return np.array([[-1.0 if spec.direction is Direction.LOWER else 1.0] for spec in specs])


def tested_metrics(keys: Sequence[str], matrices: Sequence[Unweighted]) -> NDArray[np.bool_]:
    """For which aggregates the classes are large enough to be tested, shape (Q,)."""
    has_small = bool(small_classes(matrices).any())
    return np.array([not (has_small and is_class_average(key)) for key in keys])


def is_class_average(key: str) -> bool:
    """Whether an aggregate gives classes with few samples as much weight as those with many."""
    spec = AGGREGATES.get(key)
    return key.startswith(MACRO) if spec is None else spec.averages_classes


def small_classes(matrices: Sequence[Unweighted]) -> NDArray[np.bool_]:
    """Which classes have samples but fewer than five of them in some run, shape (K,)."""
    sizes = np.stack([matrix.actual for matrix in matrices])
    return np.asarray(((sizes > 0) & (sizes < FEWEST_SAMPLES)).any(axis=RUN_AXIS))


def turned(spread: RunSpread, signs: Floats) -> RunSpread:
    """The spread of metrics whose signs are changed, which affects only their differences."""
    return replace(spread, linear=spread.linear * signs[:, :, np.newaxis])


DRAWS = 300
FEWEST_DRAWS = 40
MOST_LOOKS = 300_000_000
"""Samples and cells times runs times draws, about two seconds of work; with more samples, fewer
draws are equally precise."""

Score = Callable[[NDArray[np.int64]], Mapping[str, Floats]]
"""Maps a stack of matrices (m, K, K) to metrics by key, shape (m,), NaN where undefined."""
NO_SIGNS: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class BestOfMany:
    """The best of `n_runs` runs by one metric, and what that run is expected to reach.

    `value` is its value on these samples; `corrected` is never better, and undefined if too few
    draws had every class both among the drawn and among the other samples.
    """

    run: int
    n_runs: int
    value: float
    corrected: MetricValue


def best_of_many(
    runs: PairedRuns, score: Score, *, signs: Mapping[str, float] = NO_SIGNS, seed: int
) -> dict[str, BestOfMany]:
    """The best of three or more runs by each metric of `score`, corrected for being chosen.

    `signs` has -1 for metrics for which lower is better.

    Pass every candidate, not only those that are shown. Metrics that are undefined for all runs
    are left out.

    Source: Tsamardinos, Greasidou and Borboudakis (2018), Machine Learning 107, 1895: draw n
    samples with replacement, take the run that is best on them, and average its value on the
    samples that were not drawn; if runs are equally good on a draw, their mean counts. Draws are
    not stratified; a draw in which a class is missing on either side does not count.
    """
    n_classes, n_cells = len(runs.labels), len(runs.labels) ** 2
    kinds, shape = runs.kinds, (runs.n_runs, n_classes, n_classes)
    cells = [
        kinds.actual.astype(np.int64) * n_classes + predicted for predicted in kinds.predictions
    ]
    starts = np.cumsum(kinds.sizes) - kinds.sizes
    present = runs.matrices[0].actual > 0

    def halves(times: NDArray[np.int64]) -> tuple[Scores, Scores] | None:
        # The samples of each kind are consecutive.
        inside, outside = (
            _cells_of(cells, np.add.reduceat(each, starts, dtype=np.int64), n_cells).reshape(shape)
            for each in (times, times == 0)
        )
        if not (_has(inside, present) and _has(outside, present)):
            return None
        return score(inside), score(outside)

    whole = score(np.stack([matrix.counts for matrix in runs.matrices]))
    n_looked_at = (runs.n_samples + n_cells) * runs.n_runs
    return corrected_choice(
        whole, halves, runs.n_samples, signs=signs, seed=seed, n_looked_at=n_looked_at
    )


Scores = Mapping[str, Floats]
"""Metrics by key, one value for each run, shape (m,), NaN where undefined."""


def corrected_choice(
    found: Scores,
    halves: Callable[[NDArray[np.int64]], tuple[Scores, Scores] | None],
    n_samples: int,
    *,
    signs: Mapping[str, float] = NO_SIGNS,
    seed: int,
    n_looked_at: int,
) -> dict[str, BestOfMany]:
    """The choice by metrics `found`, corrected by draws of the samples.

    `halves` returns the metrics on the drawn samples and on the others, given how often each is
    drawn, (n,); None if the draw does not count. `n_looked_at` is the work of one draw.
    `signs` has -1 for metrics for which lower is better.
    """
    best = {key: _highest(signs.get(key, 1.0) * values) for key, values in found.items()}
    wanted = {key: run for key, run in best.items() if run is not None}
    sums = dict.fromkeys(wanted, 0.0)
    counted = dict.fromkeys(wanted, 0)
    rng = generator(seed)
    for _ in range(min(DRAWS, max(FEWEST_DRAWS, MOST_LOOKS // n_looked_at))):
        times = np.bincount(rng.integers(0, n_samples, n_samples), minlength=n_samples)
        both = halves(times)
        if both is None:
            continue
        chosen, reached = both
        for key in wanted:
            # Among runs that are equally good on a draw, position must not decide.
            values = reached[key][_all_highest(signs.get(key, 1.0) * chosen[key])]
            if np.isfinite(values).any():
                sums[key] += float(np.nanmean(values))
                counted[key] += 1
    return {
        key: BestOfMany(
            run,
            len(found[key]),
            float(found[key][run]),
            _corrected(sums[key], counted[key], float(found[key][run]), signs.get(key, 1.0)),
        )
        for key, run in wanted.items()
    }


def _corrected(total: float, n_draws: int, value: float, sign: float) -> MetricValue:
    if n_draws < FEWEST_DRAWS:
        return MetricValue(None, Reason.TOO_FEW_OF_A_CLASS)
    # Choosing never raises the expected value: anything beyond `value` is noise of the draws.
    worse = min if sign > 0 else max
    return MetricValue(worse(total / n_draws, value))


def _highest(values: Floats) -> int | None:
    highest = _all_highest(values)
    return int(highest[0]) if len(highest) else None


def _all_highest(values: Floats) -> NDArray[np.intp]:
    usable = np.isfinite(values)
    return np.flatnonzero(usable & (values == np.max(values, initial=-np.inf, where=usable)))


def _cells_of(
    cells: Sequence[NDArray[np.int64]], counts: NDArray[np.int64], n_cells: int
) -> NDArray[np.int64]:
    """Number of samples in each cell, shape (m, K*K), from the `counts` of each kind."""
    found = [np.bincount(cell, counts, minlength=n_cells) for cell in cells]
    return np.stack(found).astype(np.int64)


def _has(matrices: NDArray[np.int64], present: NDArray[np.bool_]) -> bool:
    """Whether every class that has samples has some here; all runs have the same samples."""
    per_class = matrices[0].sum(axis=PREDICTED_AXIS)
    return bool((per_class[present] > 0).all())
