"""What a version of a cost matrix changed, cell by cell, matched by the names of the classes."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.metrics.costs.matrix import PriceChange, changed_prices
from offdiag.store.cost_matrices import CostMatrixRecord
from offdiag_web.presenters import numbers
from offdiag_web.presenters.class_order import quoted_name
from offdiag_web.presenters.costs.table import price_text

MOST_CELLS = 200


@dataclass(frozen=True, slots=True)
class ChangedPrice:
    """One cell whose price differs."""

    actual: str
    predicted: str
    before: str
    after: str
    factor: str


@dataclass(frozen=True, slots=True)
class CostDifference:
    """All that differs, in words and by cell; `n_hidden` cells are left to the CSV."""

    title: str
    sentences: tuple[str, ...]
    cells: tuple[ChangedPrice, ...]
    n_hidden: int


def cost_difference(before: CostMatrixRecord, after: CostMatrixRecord) -> CostDifference:
    """Present what changed from one version to another."""
    cells = changed_prices(before.costs, after.costs)
    return CostDifference(
        title=f"What changed from v{before.version} to v{after.version}",
        sentences=tuple(_sentences(before, after, len(cells))),
        cells=tuple(
            ChangedPrice(
                change.actual,
                change.predicted,
                price_text(change.before),
                price_text(change.after),
                _factor_text(change),
            )
            for change in cells[:MOST_CELLS]
        ),
        n_hidden=max(len(cells) - MOST_CELLS, 0),
    )


def _sentences(before: CostMatrixRecord, after: CostMatrixRecord, n_cells: int) -> list[str]:
    old, new = before.costs.labels.names, after.costs.labels.names
    found = []
    for words, names in (
        ("New classes", [name for name in new if name not in old]),
        ("Classes left out", [name for name in old if name not in new]),
    ):
        if names:
            found.append(f"{words}: {numbers.listed([quoted_name(name) for name in names])}.")
    if before.costs.currency != after.costs.currency:
        found.append(
            f"Currency: {before.costs.currency or 'none'} \N{RIGHTWARDS ARROW} "
            f"{after.costs.currency or 'none'}."
        )
    found.append(
        f"{numbers.plural(n_cells, 'price')} changed." if n_cells else "No price changed."
    )
    return found


def _factor_text(change: PriceChange) -> str:
    """How many times the price it is, where that means something."""
    return "" if change.factor is None else f"× {change.factor:.3g}"
