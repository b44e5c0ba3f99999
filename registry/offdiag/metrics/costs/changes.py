"""Which prices differ between two cost matrices, matched by the names of the classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offdiag.metrics.costs.matrix import CostMatrix


@dataclass(frozen=True, slots=True)
class PriceChange:
    """One cell whose price differs."""

    actual: str
    predicted: str
    before: float
    after: float

    @property
    def factor(self) -> float | None:
        """How many times the price it is, where both are positive."""
        return self.after / self.before if self.before > 0 and self.after > 0 else None


def changed_prices(before: CostMatrix, after: CostMatrix) -> tuple[PriceChange, ...]:
    """All cells that differ, in the label order of `after`, of classes that both have."""
    common = [name for name in after.labels.names if name in before.labels.index]
    if not common:
        return ()
    was, now = (
        costs.weights[np.ix_(codes, codes)]
        for costs in (before, after)
        for codes in [[costs.labels.index[name] for name in common]]
    )
    return tuple(
        PriceChange(
            common[actual],
            common[predicted],
            float(was[actual, predicted]),
            float(now[actual, predicted]),
        )
        for actual, predicted in np.argwhere(was != now).tolist()
    )
