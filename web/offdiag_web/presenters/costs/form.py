"""The form for a new cost matrix or a new version of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.matrix import check_costs
from offdiag_web.inputs.costs import ReadCosts, TypedCosts
from offdiag_web.presenters.class_order import class_head
from offdiag_web.presenters.what_if.grid import (
    MOST_CLASSES,
    CostGrid,
    GridCell,
    GridColumn,
    GridLine,
)
from offdiag_web.presenters.what_if.warnings import PASSED, warning_texts


@dataclass(frozen=True, slots=True)
class CostFormView:
    """The fields with what is typed in them. `grid` is None where there are too many classes."""

    title: str
    action: str
    cancel_url: str
    dataset: str
    name: str
    name_is_fixed: bool
    currency: str
    note: str
    author: str
    grid: CostGrid | None
    table: str
    errors: Mapping[str, str]
    passed: str | None
    warnings: tuple[str, ...]
    n_classes: int
    is_default: bool


def cost_form_view(
    typed: TypedCosts,
    labels: LabelSet,
    *,
    read: ReadCosts | None,
    before: TypedCosts,
    title: str,
    action: str,
    cancel_url: str,
    dataset: str,
    name_is_fixed: bool,
    is_default: bool,
    errors: Mapping[str, str] | None = None,
) -> CostFormView:
    """Present the form. `before` is what it started from, which marks what was changed; `read`
    is what the fields mean, if somebody asked."""
    costs = None if read is None else read.costs
    return CostFormView(
        title=title,
        action=action,
        cancel_url=cancel_url,
        dataset=dataset,
        name=typed.name,
        name_is_fixed=name_is_fixed,
        currency=typed.currency,
        note=typed.note,
        author=typed.author,
        grid=_grid(typed, before, labels),
        table=typed.table,
        errors={**(errors or {}), **({} if read is None else read.errors)},
        passed=None if costs is None else PASSED,
        warnings=() if costs is None else warning_texts(check_costs(costs), labels),
        n_classes=len(labels),
        is_default=is_default,
    )


def _grid(typed: TypedCosts, before: TypedCosts, labels: LabelSet) -> CostGrid | None:
    names = labels.names
    if len(names) > MOST_CLASSES:
        return None
    columns = tuple(GridColumn(code, class_head(name)) for code, name in enumerate(names))
    return CostGrid(
        columns=columns,
        lines=tuple(
            GridLine(
                actual,
                class_head(names[actual]),
                tuple(_cell(typed, before, actual, predicted) for predicted in range(len(names))),
            )
            for actual in range(len(names))
        ),
        turned_heads=max(len(column.head.short) for column in columns) > 6,
        density="roomy" if len(names) <= 8 else "plain" if len(names) <= 12 else "dense",
    )


def _cell(typed: TypedCosts, before: TypedCosts, actual: int, predicted: int) -> GridCell:
    value = typed.cells.get((actual, predicted), "")
    was = before.cells.get((actual, predicted), "")
    return GridCell(
        name=f"w{actual}.{predicted}",
        column=predicted,
        value=value,
        initial=was,
        before=was,
        is_edited=value != was,
        is_right=actual == predicted,
    )
