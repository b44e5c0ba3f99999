"""Comparison of three or more runs, and what the highest is expected to reach on new samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.differences import HEADLINE, class_values, headline_values
from offdiag.comparison.rank_status import (
    Rank,
    places,
    unpaired_metric_contest,
    unpaired_recall_contest,
    with_pairs,
)
from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import CATALOGUE, Direction, Scope
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import CountedSets, Unweighted
from offdiag.metrics.gradients import Floats
from offdiag.metrics.intervals.delta import range_of
from offdiag.metrics.intervals.draws import INTERVAL_SEED
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.many_runs.best_runs import (
    BestOfMany,
    best_of_many,
    metric_contest,
    recall_contests,
)
from offdiag.metrics.many_runs.confidence_set import BestSet, Contest, confidence_sets
from offdiag.metrics.many_runs.paired_runs import PairedRuns, PairwiseRuns, RunsTogether
from offdiag.metrics.many_runs.run_spread import Codes
from offdiag.metrics.metric_text import spec_of
from offdiag.metrics.paired.hypothesis_tests import CochranQ, cochran_of_counts, holm, mcnemar
from offdiag.metrics.suite import AGGREGATE_KEYS, labelled_suite

FEWEST_RUNS = 3
MOST_PREDICTIONS = 10_000_000
"""Predictions of all runs together up to which the choice is corrected: a few seconds of work."""
MOST_CELLS = 1_000_000
"""Cells of all matrices together, for the same reason."""


def best_by_metric(runs: PairedRuns, keys: Sequence[str]) -> dict[str, BestOfMany]:
    """The best of three or more runs by each aggregate metric that has a better direction.

    Empty unless `is_small_enough` holds.
    """
    labels = runs.labels
    signs = {key: _sign(key) for key in keys if key in AGGREGATE_KEYS and _sign(key)}
    if not signs or not is_small_enough(runs.n_samples, runs.n_runs, len(labels)):
        return {}

    def score(stack: NDArray[np.int64]) -> dict[str, Floats]:
        suite = labelled_suite(stack, labels).aggregate
        return {key: np.asarray(suite[key].value) for key in signs}

    return best_of_many(runs, score, signs=signs, seed=INTERVAL_SEED)


def is_small_enough(n_samples: int, n_runs: int, n_classes: int) -> bool:
    """Whether the choice among these runs is corrected: three or more, within the bounds."""
    return (
        n_runs >= FEWEST_RUNS
        and 0 < n_samples * n_runs <= MOST_PREDICTIONS
        and n_runs * n_classes**2 <= MOST_CELLS
    )


def selection_record(found: Mapping[str, BestOfMany], names: Sequence[str]) -> dict[str, Any]:
    """Plain values by metric; `names` are those of the runs in their order."""
    return {
        key: {
            "run": names[each.run],
            "n_runs": each.n_runs,
            "value": each.value,
            "corrected": each.corrected.to_dict(),
        }
        for key, each in found.items()
    }


def _sign(key: str) -> float:
    direction = CATALOGUE[Scope.AGGREGATE][key].direction
    return {Direction.HIGHER: 1.0, Direction.LOWER: -1.0}.get(direction, 0.0)


CLASS_AXIS = 0
"""Axis of counts by class and two runs along which the class changes."""


@dataclass(frozen=True, slots=True)
class RunPair:
    """Two runs by position, and the samples that only one of them gets right.

    `p` is McNemar's exact p, `p_adjusted` Holm's over all pairs.
    """

    first: int
    second: int
    only_first: int
    only_second: int
    p: float
    p_adjusted: float


@dataclass(frozen=True)
class ManyComparison:
    """The comparison of several runs, in their order.

    `places` are by headline key, all compared together at one level; `recall` are those of each
    class in label order, also compared together. `pairs` and `cochran` are about the runs
    with predictions, all on the same samples; `unpaired` are the positions of those without.
    `best_of_many` is the highest run by headline key with what it is expected to reach; it is
    empty if not all runs are paired, if samples were only counted for each pair of runs
    (`in_pairs`) or if there are too many. `left_out` are the positions of runs on other labels
    than the rest, which have no place; `on_labels` are then the label versions of all runs.
    """

    matrices: tuple[Unweighted, ...]
    places: Mapping[str, tuple[Rank, ...]]
    recall: tuple[tuple[Rank, ...], ...]
    pairs: tuple[RunPair, ...]
    cochran: CochranQ | None
    unpaired: tuple[int, ...]
    confidence: float
    best_of_many: Mapping[str, BestOfMany] = field(default_factory=dict)
    in_pairs: bool = False
    left_out: tuple[int, ...] = ()
    on_labels: tuple[int | None, ...] = ()

    @property
    def compared(self) -> tuple[Unweighted, ...]:
        """The matrices of the runs that are compared with each other."""
        return tuple(each for at, each in enumerate(self.matrices) if at not in self.left_out)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.matrices[0].labels.names

    @property
    def of_sets(self) -> bool:
        """Whether samples have sets of labels."""
        return isinstance(self.matrices[0], CountedSets)


def compare_many(
    actual: Codes,
    runs: Sequence[Codes | ConfusionMatrix],
    *,
    labels: LabelSet,
    confidence: float = 0.95,
) -> ManyComparison:
    """Compare runs on the n samples of `actual`, at least one.

    A run is given as the n codes it predicted, or as its matrix if there are no predictions. Which
    runs are significantly worse than the best is decided by model confidence sets, one for all
    primary metrics together and one for the recall of all classes together.
    """
    uploaded = {at: run for at, run in enumerate(runs) if isinstance(run, ConfusionMatrix)}
    predicted = tuple(run for run in runs if not isinstance(run, ConfusionMatrix))
    paired = PairedRuns(actual, predicted, labels) if predicted else None
    return compare_together(paired, uploaded, confidence=confidence)


def compare_together(
    paired: RunsTogether | None,
    uploaded: Mapping[int, ConfusionMatrix],
    *,
    confidence: float = 0.95,
) -> ManyComparison:
    """Compare runs that are already paired; `uploaded` are matrices of others by position."""
    n_runs = len(uploaded) + (paired.n_runs if paired else 0)
    positions = tuple(at for at in range(n_runs) if at not in uploaded)
    of_paired = iter(paired.matrices if paired else ())
    matrices = tuple(uploaded[at] if at in uploaded else next(of_paired) for at in range(n_runs))
    unpaired = tuple(uploaded)
    recall = [class_values(matrix, confidence=confidence)["recall"] for matrix in matrices]
    metrics, classes = _contests(paired, positions, matrices, recall, confidence=confidence)
    (sets,) = confidence_sets([metrics], seed=INTERVAL_SEED, confidence=confidence)
    of_classes = confidence_sets(classes, seed=INTERVAL_SEED, confidence=confidence)
    pairs, cochran = _correct_predictions(paired, positions)
    best: Mapping[str, BestOfMany] = {}
    if isinstance(paired, PairedRuns) and not unpaired:
        best = best_by_metric(paired, HEADLINE)
    return many_comparison(
        matrices,
        dict(zip(HEADLINE, sets, strict=True)),
        [found for (found,) in of_classes],
        recall=recall,
        pairs=pairs,
        cochran=cochran,
        unpaired=unpaired,
        confidence=confidence,
        best=best,
        in_pairs=isinstance(paired, PairwiseRuns),
    )


def many_comparison(
    sides: tuple[Unweighted, ...],
    by_metric: Mapping[str, BestSet],
    by_class: Sequence[BestSet],
    *,
    recall: Sequence[Sequence[MetricValue]],
    pairs: tuple[RunPair, ...],
    cochran: CochranQ | None,
    unpaired: tuple[int, ...] = (),
    confidence: float,
    best: Mapping[str, BestOfMany],
    in_pairs: bool = False,
) -> ManyComparison:
    """Several runs with the sets of those that may be the best, by metric and by class."""
    values = [headline_values(side) for side in sides]
    return ManyComparison(
        sides,
        {
            key: places(
                found,
                [each[key] for each in values],
                lower_is_better=spec_of(key, of_class=False).direction is Direction.LOWER,
                width=_width(key),
                unpaired=unpaired,
            )
            for key, found in by_metric.items()
        },
        tuple(
            places(found, [each[code] for each in recall], width=1.0, unpaired=unpaired)
            for code, found in enumerate(by_class)
        ),
        pairs,
        cochran,
        unpaired,
        confidence,
        best,
        in_pairs,
    )


def _contests(
    paired: RunsTogether | None,
    positions: tuple[int, ...],
    matrices: Sequence[ConfusionMatrix],
    recall: Sequence[Sequence[MetricValue]],
    *,
    confidence: float,
) -> tuple[Contest, tuple[Contest, ...]]:
    """Contests by the primary metrics and by recall; `positions` are those of paired runs."""
    if paired is not None and len(positions) == len(matrices):
        return metric_contest(paired, HEADLINE), recall_contests(paired)
    bounded = [_with_intervals(each, confidence) for each in matrices]
    metrics = unpaired_metric_contest(
        HEADLINE,
        matrices,
        [[each[key] for each in bounded] for key in HEADLINE],
        confidence=confidence,
    )
    classes = tuple(
        unpaired_recall_contest(
            code, matrices, [each[code] for each in recall], confidence=confidence
        )
        for code in range(len(matrices[0].labels))
    )
    if paired is None:
        return metrics, classes
    return with_pairs(metrics, metric_contest(paired, HEADLINE), positions), tuple(
        with_pairs(contest, pairs, positions)
        for contest, pairs in zip(classes, recall_contests(paired), strict=True)
    )


def _width(key: str) -> float:
    low, high = range_of(key)
    return high - low


def _with_intervals(matrix: ConfusionMatrix, confidence: float) -> dict[str, MetricValue]:
    found = suite_intervals(matrix, seed=INTERVAL_SEED, confidence=confidence).aggregate
    return {key: found[key].at().around(each) for key, each in headline_values(matrix).items()}


def _correct_predictions(
    paired: RunsTogether | None, positions: Sequence[int]
) -> tuple[tuple[RunPair, ...], CochranQ | None]:
    """Every pair of runs with predictions, and Cochran's test of three or more of them."""
    if paired is None or len(positions) < 2:
        return (), None
    both: NDArray[np.int64] = paired.both_right.sum(axis=CLASS_AXIS)
    return pairs_of(both, positions), cochran_of_counts(both) if len(positions) > 2 else None


def pairs_of(both: NDArray[np.int64], positions: Sequence[int]) -> tuple[RunPair, ...]:
    """Every pair of runs, from the samples that both of them get right, (m, m)."""
    right = np.diagonal(both)
    counts = [
        (
            first,
            second,
            int(right[first] - both[first, second]),
            int(right[second] - both[first, second]),
        )
        for first, second in combinations(range(len(positions)), 2)
    ]
    p = [mcnemar(only_first, only_second).exact_p for _, _, only_first, only_second in counts]
    return tuple(
        RunPair(positions[first], positions[second], one, other, raw, adjusted)
        for (first, second, one, other), raw, adjusted in zip(
            counts, p, holm(p).tolist(), strict=True
        )
    )
