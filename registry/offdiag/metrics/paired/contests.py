"""Runs on the same samples, ready to be compared with the best: by metrics, recall or cost.

    runs = PairedRuns(actual, predictions, labels)
    (sets,) = confidence_sets([metric_contest(runs, keys)], seed=1)

gives the set of each key at one level for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.aggregates import AGGREGATES
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import cost_gradients
from offdiag.metrics.dual import Floats
from offdiag.metrics.intervals.costs import cost_values
from offdiag.metrics.intervals.delta import aggregate_gradients
from offdiag.metrics.paired.confidence_set import Contest
from offdiag.metrics.paired.runs import PairedRuns, RunSpread
from offdiag.metrics.spec import Direction
from offdiag.metrics.suite import evaluate_stack

FEWEST_SAMPLES = 5
"""Samples of a class below which neither its recall nor an average over classes is tested."""
RUN_AXIS = 0


def metric_contest(runs: PairedRuns, keys: Sequence[str]) -> Contest:
    """Runs by aggregate metrics that have a gradient.

    Averages over classes are not tested where one has fewer than five samples.
    """
    counts = np.stack([matrix.counts for matrix in runs.matrices])
    suite = evaluate_stack(counts, ordinal=runs.labels.has_declared_order).aggregate
    signs = signs_of(keys)
    return Contest(
        signs * np.stack([suite[key].value for key in keys]),
        _turned(runs.spread(aggregate_gradients(runs.pooled, keys)), signs),
        runs.order,
        tested_metrics(keys, runs.matrices),
    )


def recall_contests(runs: PairedRuns) -> tuple[Contest, ...]:
    """Runs by the recall of each class, in label order; not tested below five samples.

    The samples of one class say nothing about another, so these are contests of their own.
    """
    correct = np.stack([matrix.correct for matrix in runs.matrices])
    with np.errstate(divide="ignore", invalid="ignore"):
        recall = correct / runs.matrices[0].actual
    is_small = small_classes(runs.matrices)
    return tuple(
        Contest(recall[np.newaxis, :, code], spread, runs.order, ~is_small[code : code + 1])
        for code, spread in enumerate(runs.spread_of_recall())
    )


def cost_contest(
    runs: PairedRuns, costs: CostMatrix, *, prevalence: Floats | None = None
) -> Contest:
    """Runs by what their errors cost, the least first.

    At another `prevalence` (K,) the cost is an average over classes: it is not tested where a
    class that counts has fewer than five samples.
    """
    counts = np.stack([matrix.counts for matrix in runs.matrices])
    values = cost_values(counts, costs, prevalence)["mean_cost"]
    gradient = cost_gradients(runs.pooled, costs, prevalence)["mean_cost"]
    is_small = small_classes(runs.matrices) & (prevalence is not None and prevalence > 0)
    return Contest(
        -values[np.newaxis],
        _turned(runs.spread({"mean_cost": gradient}), np.array([[-1.0]])),
        runs.order,
        np.array([not is_small.any()]),
    )


def signs_of(keys: Sequence[str]) -> Floats:
    """-1 for aggregates of which less is better, 1 for others, shape (Q, 1)."""
    return np.array(
        [[-1.0 if AGGREGATES[key].direction is Direction.LOWER else 1.0] for key in keys]
    )


def tested_metrics(keys: Sequence[str], matrices: Sequence[ConfusionMatrix]) -> NDArray[np.bool_]:
    """Which aggregates the classes are large enough for, shape (Q,)."""
    has_small = bool(small_classes(matrices).any())
    return np.array([not (has_small and is_class_average(key)) for key in keys])


def is_class_average(key: str) -> bool:
    """Whether an aggregate gives classes with few samples as much weight as those with many."""
    return AGGREGATES[key].averages_classes


def small_classes(matrices: Sequence[ConfusionMatrix]) -> NDArray[np.bool_]:
    """Which classes have samples but fewer than five of them in some run, shape (K,)."""
    sizes = np.stack([matrix.actual for matrix in matrices])
    return np.asarray(((sizes > 0) & (sizes < FEWEST_SAMPLES)).any(axis=RUN_AXIS))


def _turned(spread: RunSpread, signs: Floats) -> RunSpread:
    """The same spread of metrics whose signs are changed: only differences get another one."""
    return RunSpread(spread.linear * signs[:, :, np.newaxis], spread.covariance, spread.errors)
