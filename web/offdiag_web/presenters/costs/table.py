"""A cost matrix to be read: prices coloured by size, or the dearest ones where it is large."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offdiag.metrics.costs.edits import cost_text
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag_web.charts.palette import BINS
from offdiag_web.presenters.class_order import ClassHead, class_head
from offdiag_web.presenters.numbers import MINUS

MOST_CLASSES = 30
DEAREST = 30


@dataclass(frozen=True, slots=True)
class PriceCell:
    """A price with the step of its ramp."""

    text: str
    css: str


@dataclass(frozen=True, slots=True)
class DearPrice:
    """One of the highest prices of a large matrix."""

    actual: str
    predicted: str
    price: str


@dataclass(frozen=True, slots=True)
class PriceTable:
    """All cells, or the dearest ones."""

    heads: tuple[ClassHead, ...]
    turned_heads: bool
    density: str
    lines: tuple[tuple[ClassHead, tuple[PriceCell, ...]], ...]
    dearest: tuple[DearPrice, ...]


def price_table(costs: CostMatrix) -> PriceTable:
    """Present a cost matrix in label order."""
    names, weights = costs.labels.names, costs.weights
    largest = float(np.abs(weights).max())
    heads = tuple(class_head(name) for name in names[:MOST_CLASSES])
    if len(names) > MOST_CLASSES:
        places = np.argsort(-weights, axis=None, kind="stable")[:DEAREST]
        cells = [divmod(int(place), len(names)) for place in places]
        return PriceTable(
            (),
            turned_heads=False,
            density="plain",
            lines=(),
            dearest=tuple(
                DearPrice(names[actual], names[predicted], price_text(weights[actual, predicted]))
                for actual, predicted in cells
            ),
        )
    return PriceTable(
        heads,
        turned_heads=max(len(head.short) for head in heads) > 6,
        density="roomy" if len(names) <= 8 else "plain" if len(names) <= 12 else "dense",
        lines=tuple(
            (
                heads[actual],
                tuple(
                    PriceCell(price_text(price), _ramp(price, largest))
                    for price in weights[actual].tolist()
                ),
            )
            for actual in range(len(names))
        ),
        dearest=(),
    )


def price_text(price: float) -> str:
    """A price with all its digits."""
    return cost_text(float(price)).replace("-", MINUS)


def _ramp(price: float, largest: float) -> str:
    if price == 0:
        return "zero"
    step = max(1, min(BINS - 1, round(abs(price) / largest * (BINS - 1))))
    return f"{'error' if price > 0 else 'correct'}-{step}"
