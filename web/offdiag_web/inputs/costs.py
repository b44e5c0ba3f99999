"""The form of a cost matrix: what was typed, and the costs it means or what is wrong with it."""

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
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix

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
