"""What is typed into the form of a cost matrix, and the form with its errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.files.costs import read_cost_table
from offdiag.metrics.costs.edits import cost_text, read_cost
from offdiag.metrics.costs.matrix import CostMatrix, check_costs, cost_matrix
from offdiag_web.components.classes import class_head
from offdiag_web.components.costs.form import (
    MOST_CLASSES,
    PASSED,
    CostGrid,
    GridCell,
    GridColumn,
    GridLine,
    warning_texts,
)

_CELL = re.compile(r"w(\d{1,5})\.(\d{1,5})", re.ASCII)


@dataclass(frozen=True)
class TypedCosts:
    """One text for each field. `cells` are those of the grid by code, `table` what was pasted or
    uploaded, which counts instead of the cells where there is any."""

    name: str = ""
    currency: str = ""
    note: str = ""
    author: str = ""
    cells: Mapping[tuple[int, int], str] = field(default_factory=dict)
    table: str = ""


@dataclass(frozen=True)
class ReadCosts:
    """The costs that are meant, or None and what is wrong: sentences by field, "" for the whole,
    and the cells that cannot be read."""

    costs: CostMatrix | None
    errors: Mapping[str, str] = field(default_factory=dict)
    broken: frozenset[tuple[int, int]] = frozenset()


def typed_costs(form: Mapping[str, str], *, uploaded: str = "") -> TypedCosts:
    """What was sent; a field that is missing is empty."""
    cells = {}
    for name, text in form.items():
        found = _CELL.fullmatch(name)
        if found is not None:
            cells[int(found[1]), int(found[2])] = text.strip()
    return TypedCosts(
        **{name: form.get(name, "").strip() for name in ("name", "currency", "note", "author")},
        cells=cells,
        table=uploaded or form.get("table", ""),
    )


def typed_from(costs: CostMatrix, *, name: str) -> TypedCosts:
    """A cost matrix as one would have typed it, without note and author."""
    return TypedCosts(
        name=name,
        currency=costs.currency or "",
        cells={
            (actual, predicted): cost_text(cost)
            for actual, row in enumerate(costs.weights.tolist())
            for predicted, cost in enumerate(row)
        },
    )


def read_costs(typed: TypedCosts, labels: LabelSet) -> ReadCosts:
    """The costs that were typed between these classes."""
    weights: Mapping[str, Mapping[str, float]] | NDArray[np.float64]
    if typed.table.strip():
        try:
            weights = read_cost_table(typed.table, labels)
        except InvalidInput as error:
            return ReadCosts(None, {"table": _sentence(error)})
        where = "table"
    else:
        size = len(labels)
        read = {
            (actual, predicted): read_cost(typed.cells.get((actual, predicted), ""))
            for actual in range(size)
            for predicted in range(size)
        }
        broken = frozenset(cell for cell, cost in read.items() if cost is None)
        if broken:
            return ReadCosts(None, {"cells": _broken_text(typed, broken, labels)}, broken)
        weights = np.array([read[cell] for cell in sorted(read)]).reshape(size, size)
        where = "cells"
    try:
        return ReadCosts(cost_matrix(weights, labels=labels, currency=typed.currency or None))
    except InvalidInput as error:
        name = "currency" if error.field == "currency" else where
        return ReadCosts(None, {name: _sentence(error)})


def _broken_text(typed: TypedCosts, broken: frozenset[tuple[int, int]], labels: LabelSet) -> str:
    actual, predicted = min(broken)
    typed_text = typed.cells.get((actual, predicted), "")
    shown = f"“{typed_text[:20]}”" if typed_text else "nothing"
    more = f", as are {len(broken) - 1} more" if len(broken) > 1 else ""
    return (
        f"The cost of actual {labels.names[actual]!r} predicted as {labels.names[predicted]!r} "
        f"is {shown}{more}. Costs are numbers, with a point before the decimals."
    )


def _sentence(error: InvalidInput) -> str:
    message = error.message[:1].upper() + error.message[1:]
    return f"{message} {error.hint}" if error.hint else message


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
