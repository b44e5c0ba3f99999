"""How much two people agree on labels, beyond chance (Cohen's kappa).

Cohen, "A Coefficient of Agreement for Nominal Scales", Educational and Psychological Measurement
20 (1960), 37-46.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from offdiag.domain.labels import LabelSet
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.delta import aggregate_gradients, aggregate_standard_errors
from offdiag.metrics.intervals.proportions import normal_quantile, wilson

FEWEST_FOR_KAPPA = 20
"""Samples below which the normal interval of kappa is not given."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """`n_same` of `n` answers are equal; `share` has a Wilson interval.

    `kappa` is undefined if both people gave the same answer to everything. It has an interval, by
    the delta method, from 20 samples on, if they disagree at least once.
    """

    n: int
    n_same: int
    share: MetricValue
    kappa: MetricValue


def agreement(first: Sequence[str | None], second: Sequence[str | None]) -> Agreement:
    """The agreement of two people who answered for the same samples, in the same order.

    An answer is a class, or None for "cannot tell", which counts as an answer of its own.
    """
    n = len(first)
    names = sorted({*first, *second}, key=lambda name: (name is None, name or ""))
    places = {name: place for place, name in enumerate(names)}
    counts = np.zeros((max(len(names), 1),) * 2, np.int64)
    np.add.at(counts, ([places[name] for name in first], [places[name] for name in second]), 1)
    matrix = ConfusionMatrix(counts, LabelSet.numbered(len(counts)))
    bounds = wilson(matrix.n_right, n)
    share = MetricValue(None, reason="no_samples")
    if n:
        share = MetricValue(
            matrix.n_right / n,
            ci_low=float(bounds.low),
            ci_high=float(bounds.high),
            ci_method="wilson",
        )
    return Agreement(n, matrix.n_right, share, _kappa(matrix))


def _kappa(matrix: ConfusionMatrix) -> MetricValue:
    if len(matrix.labels) < 2:
        return MetricValue(None, reason="no_samples" if not matrix.total else "one_answer_only")
    gradients = aggregate_gradients(matrix, ["cohen_kappa"])
    kappa = float(gradients["cohen_kappa"].value)
    error = float(aggregate_standard_errors(matrix, gradients)["cohen_kappa"])
    if matrix.total < FEWEST_FOR_KAPPA or not error > 0:
        return MetricValue(kappa)
    reach = normal_quantile(0.95) * error
    return MetricValue(
        kappa,
        ci_low=max(kappa - reach, -1.0),
        ci_high=min(kappa + reach, 1.0),
        ci_method="delta",
    )
