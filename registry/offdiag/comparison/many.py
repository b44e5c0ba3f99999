"""Three or more runs beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.comparison.differences import HEADLINE
from offdiag.comparison.gaps import Gap, paired_gaps, unpaired_gap
from offdiag.comparison.standings import Place, places
from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counting import count_pairs
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.paired.cochran import RUN_AXIS, CochranQ, cochran_q
from offdiag.metrics.paired.joint import joint_counts
from offdiag.metrics.paired.mcnemar import mcnemar
from offdiag.metrics.paired.multiplicity import holm
from offdiag.metrics.suite import evaluate_stack

MOST_RESAMPLED = 8
"""Up to this many runs differences are resampled; above, they take the delta method."""

Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True)
class RunPair:
    """Two runs by position, and the cases that only one of them gets right.

    `p` is McNemar's exact one, `p_adjusted` Holm's over all pairs.
    """

    first: int
    second: int
    only_first: int
    only_second: int
    p: float
    p_adjusted: float


@dataclass(frozen=True)
class ManyComparison:
    """Everything about several runs, in their order.

    `places` are by headline key. `pairs` and `cochran` are about the runs with predictions,
    all on the same cases; `unpaired` are the positions of those without.
    """

    matrices: tuple[ConfusionMatrix, ...]
    places: Mapping[str, tuple[Place, ...]]
    pairs: tuple[RunPair, ...]
    cochran: CochranQ | None
    unpaired: tuple[int, ...]
    confidence: float
    seed: int
    replicates: int

    @property
    def labels(self) -> tuple[str, ...]:
        return self.matrices[0].labels.names


def compare_many(
    actual: Codes,
    runs: Sequence[Codes | ConfusionMatrix],
    *,
    labels: LabelSet,
    seed: int,
    confidence: float = 0.95,
    replicates: int = 2_000,
) -> ManyComparison:
    """Compare runs on the n cases of `actual`, at least one.

    A run is the n codes it predicted, or its matrix where there are no predictions. Every run
    is compared with the best one by each metric, and the p values are adjusted after Holm.
    """
    matrices = tuple(
        run
        if isinstance(run, ConfusionMatrix)
        else ConfusionMatrix(count_pairs(actual, run, n_classes=len(labels)), labels)
        for run in runs
    )
    unpaired = tuple(at for at, run in enumerate(runs) if isinstance(run, ConfusionMatrix))
    values = [_values(matrix) for matrix in matrices]
    if unpaired:
        values = [
            _with_intervals(matrix, plain, seed=seed, confidence=confidence)
            for matrix, plain in zip(matrices, values, strict=True)
        ]
    drawn = replicates if len(runs) <= MOST_RESAMPLED else 0
    gaps = _Gaps(actual, runs, labels, values, seed, confidence, drawn)
    pairs, cochran = _right_answers(actual, runs)
    return ManyComparison(
        matrices,
        {
            key: places(
                key,
                [each[key] for each in values],
                partial(gaps.of_metric, key),
                confidence=confidence,
            )
            for key in HEADLINE
        },
        pairs,
        cochran,
        unpaired,
        confidence,
        seed,
        drawn,
    )


@dataclass(frozen=True)
class _Gaps:
    """Differences between two of the runs; those of one pair are found once for all metrics."""

    actual: Codes
    runs: Sequence[Codes | ConfusionMatrix]
    labels: LabelSet
    values: Sequence[Mapping[str, MetricValue]]
    seed: int
    confidence: float
    replicates: int
    known: dict[tuple[int, int], dict[str, Gap]] = field(default_factory=dict)

    def of_metric(self, key: str, best: int, other: int) -> Gap:
        """Other minus best."""
        if (best, other) not in self.known:
            self.known[best, other] = self._between(best, other)
        return self.known[best, other][key]

    def _between(self, best: int, other: int) -> dict[str, Gap]:
        first, second = self.runs[best], self.runs[other]
        before, after = self.values[best], self.values[other]
        if isinstance(first, ConfusionMatrix) or isinstance(second, ConfusionMatrix):
            return {
                key: unpaired_gap(before[key], after[key], confidence=self.confidence)
                for key in HEADLINE
            }
        return paired_gaps(
            joint_counts(actual=self.actual, first=first, second=second, labels=self.labels),
            before,
            after,
            seed=self.seed,
            confidence=self.confidence,
            replicates=self.replicates,
        )


def _values(matrix: ConfusionMatrix) -> dict[str, MetricValue]:
    suite = evaluate_stack(matrix.counts, ordinal=matrix.labels.has_declared_order)
    return {key: suite.aggregate[key].at() for key in HEADLINE}


def _with_intervals(
    matrix: ConfusionMatrix, values: Mapping[str, MetricValue], *, seed: int, confidence: float
) -> dict[str, MetricValue]:
    found = suite_intervals(matrix, seed=seed, confidence=confidence).aggregate
    return {key: found[key].at().around(value) for key, value in values.items()}


def _right_answers(
    actual: Codes, runs: Sequence[Codes | ConfusionMatrix]
) -> tuple[tuple[RunPair, ...], CochranQ | None]:
    """Every pair of runs with predictions, and Cochran's test of three or more of them."""
    predicted = {at: run for at, run in enumerate(runs) if not isinstance(run, ConfusionMatrix)}
    positions = list(predicted)
    if len(positions) < 2:
        return (), None
    right = np.stack([np.equal(codes, actual) for codes in predicted.values()], axis=RUN_AXIS)
    alone = np.einsum("ca,cb->ab", right.astype(np.int64), (~right).astype(np.int64))
    counts = [
        (first, second, int(alone[first, second]), int(alone[second, first]))
        for first, second in combinations(range(len(positions)), 2)
    ]
    p = [mcnemar(only_first, only_second).exact_p for _, _, only_first, only_second in counts]
    pairs = tuple(
        RunPair(positions[first], positions[second], one, other, raw, adjusted)
        for (first, second, one, other), raw, adjusted in zip(
            counts, p, holm(p).tolist(), strict=True
        )
    )
    return pairs, cochran_q(right) if len(positions) > 2 else None
