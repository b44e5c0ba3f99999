"""A stack of matrices with its class values, each computed when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.one_vs_rest import OneVsRest, one_vs_rest
from offdiag.metrics.per_class import PER_CLASS
from offdiag.metrics.quantity import Quantity
from offdiag.metrics.tally import Tally, over_classes

Subject = TypeVar("Subject")


class OnDemand(Mapping[str, Quantity], Generic[Subject]):
    """Metrics of one subject by key, computed on first access and kept.

    Whoever needs three of ninety keys (a bootstrap, a list page) pays for three.
    """

    def __init__(
        self, metrics: Mapping[str, Callable[[Subject], Quantity]], subject: Subject
    ) -> None:
        self._metrics = metrics
        self._subject = subject
        self._known: dict[str, Quantity] = {}

    def __getitem__(self, key: str) -> Quantity:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._metrics[key](self._subject)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)


@dataclass(frozen=True)
class Classified:
    """A stack of R matrices as aggregates see it: tally, class values and other aggregates."""

    tally: Tally
    aggregates: Mapping[str, Callable[[Classified], Quantity]]

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
