"""The cost matrix as a table of fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from offdiag.metrics.costs.edits import cost_text
from offdiag.services.what_if.scenario import Scenario
from offdiag_web.presenters.class_order import ClassHead, class_head

MOST_CLASSES = 30
"""Classes up to which every cell has a field; beyond it whole rows and columns are changed."""
_ROOMY, _PLAIN = 8, 12
_UPRIGHT = 6


@dataclass(frozen=True, slots=True)
class GridCell:
    """The field of one cell. `before` is its cost in the saved version, `initial` what it is
    without being set, which is where clearing the field leads."""

    name: str
    column: int
    value: str
    initial: str
    before: str
    is_edited: bool
    is_right: bool


@dataclass(frozen=True, slots=True)
class GridLine:
    """The costs of all answers for one actual class."""

    code: int
    head: ClassHead
    cells: tuple[GridCell, ...]


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A predicted class."""

    code: int
    head: ClassHead


@dataclass(frozen=True, slots=True)
class CostGrid:
    """Fields for all cells, actual classes down."""

    columns: tuple[GridColumn, ...]
    lines: tuple[GridLine, ...]
    turned_heads: bool
    density: Literal["roomy", "plain", "dense"]


def cost_grid(scenario: Scenario, order: list[int]) -> CostGrid | None:
    """The fields in this order of the classes; None where there would be too many."""
    names = scenario.costs.labels.names
    if len(names) > MOST_CLASSES:
        return None
    saved = scenario.base.costs.weights
    initial = scenario.edits.multiplied(saved)
    lines = tuple(
        GridLine(
            actual,
            class_head(names[actual]),
            tuple(
                GridCell(
                    name=f"w{actual}.{predicted}",
                    column=predicted,
                    value=cost_text(float(scenario.costs.weights[actual, predicted])),
                    initial=cost_text(float(initial[actual, predicted])),
                    before=cost_text(float(saved[actual, predicted])),
                    is_edited=bool(
                        scenario.costs.weights[actual, predicted] != saved[actual, predicted]
                    ),
                    is_right=actual == predicted,
                )
                for predicted in order
            ),
        )
        for actual in order
    )
    heads = tuple(GridColumn(code, class_head(names[code])) for code in order)
    return CostGrid(
        columns=heads,
        lines=lines,
        turned_heads=max(len(column.head.short) for column in heads) > _UPRIGHT,
        density="roomy" if len(order) <= _ROOMY else "plain" if len(order) <= _PLAIN else "dense",
    )
