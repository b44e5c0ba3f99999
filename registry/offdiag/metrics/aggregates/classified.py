"""The definition of an aggregate metric: its formula, its gradient, and the matrices it is for.

An aggregate is one number for a whole matrix. Its formula takes a stack of matrices with their
class values, each computed when first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.gradients import Cells, ClassShares, Dual, Gradient
from offdiag.metrics.per_class import PER_CLASS
from offdiag.metrics.per_class.one_vs_rest import OneVsRest, one_vs_rest
from offdiag.metrics.quantity import Quantity
from offdiag.metrics.spec import MetricSpec, Scope
from offdiag.metrics.tally import Tally, over_classes

Subject = TypeVar("Subject")
Subject_contra = TypeVar("Subject_contra", contravariant=True)


class Computed(Protocol[Subject_contra]):
    """A metric that can be computed from a subject."""

    @property
    def compute(self) -> Callable[[Subject_contra], Quantity]: ...


class OnDemand(Mapping[str, Quantity], Generic[Subject]):
    """Metrics of one subject by key, computed on first access and kept.

    A caller that needs three of ninety keys (a bootstrap, a list page) pays for three.
    """

    def __init__(self, metrics: Mapping[str, Computed[Subject]], subject: Subject) -> None:
        self._metrics = metrics
        self._subject = subject
        self._known: dict[str, Quantity] = {}

    def __getitem__(self, key: str) -> Quantity:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._metrics[key].compute(self._subject)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)


@dataclass(frozen=True)
class Classified:
    """A stack of R matrices as aggregates see it: tally, class values and other aggregates."""

    tally: Tally
    aggregates: Mapping[str, AggregateMetric]

    @cached_property
    def one_vs_rest(self) -> OneVsRest:
        return one_vs_rest(self.tally)

    @cached_property
    def per_class(self) -> OnDemand[OneVsRest]:
        """Per-class quantities of shape (R, K) by key."""
        return OnDemand(PER_CLASS, self.one_vs_rest)

    @cached_property
    def aggregate(self) -> OnDemand[Classified]:
        """Aggregate quantities of shape (R,) by key."""
        return OnDemand(self.aggregates, self)

    def class_sum(self, key: str) -> NDArray[np.float64]:
        """Sum over classes of a per-class metric, undefined values counting 0, shape (R,)."""
        if key not in self._class_sums:
            self._class_sums[key] = over_classes(self.per_class[key].or_zero())
        return self._class_sums[key]

    @cached_property
    def _class_sums(self) -> dict[str, NDArray[np.float64]]:
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateMetric(MetricSpec):
    """An aggregate: its definition, how it is computed, and its gradient for the delta method.

    `slopes` is the formula in dual numbers, for metrics of hits and margins only. N is 1
    there: aggregates are the same for any multiple of a matrix, and a slope that is constant
    over the cells adds nothing to a variance. `gradient` is for metrics of single cells.
    A metric with neither has no interval where there are too many classes. `averages_classes` is
    true for means in which every class counts the same, however few samples it has.
    """

    scope: Scope = Scope.AGGREGATE
    compute: Callable[[Classified], Quantity]
    slopes: Callable[[ClassShares], Dual] | None = None
    gradient: Callable[[Cells], Gradient] | None = None
    averages_classes: bool = False

    @property
    def has_gradient(self) -> bool:
        return self.slopes is not None or self.gradient is not None
