"""The suite: every metric of a single-label confusion matrix, for one or for many matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.aggregates import AGGREGATES
from offdiag.metrics.aggregates.classified import Classified
from offdiag.metrics.per_class import PER_CLASS
from offdiag.metrics.quantity import Quantity
from offdiag.metrics.tally import tally

SUITE_VERSION: int = 11
"""Raised whenever the value of any key may change; stored values carry it."""

AGGREGATE_KEYS: tuple[str, ...] = tuple(AGGREGATES)
PER_CLASS_KEYS: tuple[str, ...] = tuple(PER_CLASS)


@dataclass(frozen=True)
class Suite:
    """Metrics of a stack of matrices of shape (..., K, K), by key.

    Aggregate quantities have shape (...), per-class ones (..., K). Each is computed when it
    is first asked for, so reading only a few keys is cheap.
    """

    aggregate: Mapping[str, Quantity]
    per_class: Mapping[str, Quantity]


def evaluate_stack(
    counts: NDArray[Any], *, ordinal: bool, names: tuple[str, ...] = (), unit: float = 1
) -> Suite:
    """The suite of one matrix (K, K) or of many (..., K, K).

    The actual class changes along the last axis but one. `counts` is int64 (totals below
    2**62), object (Python integers of any size) or float64 (sums of sample weights).
    `ordinal` says that the order of the classes has a meaning; otherwise the weighted kappas
    are undefined; `names` are the class names, for declared metrics. Integers may count fractions
    of samples, `unit` of them per sample. A matrix gives the same bits alone and in a stack.

    Raises `InvalidInput` for unusable weights.
    """
    subject = Classified(
        tally(np.asarray(counts), ordinal=ordinal, names=names, unit=unit), AGGREGATES
    )
    *leading, _, n_classes = counts.shape
    return Suite(
        aggregate=_Unflattened(subject.aggregate, tuple(leading)),
        per_class=_Unflattened(subject.per_class, (*leading, n_classes)),
    )


def labelled_suite(counts: NDArray[Any], labels: LabelSet) -> Suite:
    """The suite of one matrix or of many whose classes are `labels`, as `evaluate_stack`."""
    return evaluate_stack(counts, ordinal=labels.has_declared_order, names=labels.names)


class _Unflattened(Mapping[str, Quantity]):
    """Quantities of a flattened stack, reshaped to the stack that was passed in."""

    def __init__(self, quantities: Mapping[str, Quantity], shape: tuple[int, ...]) -> None:
        self._quantities = quantities
        self._shape = shape

    def __getitem__(self, key: str) -> Quantity:
        return self._quantities[key].reshaped(self._shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self._quantities)

    def __len__(self) -> int:
        return len(self._quantities)
