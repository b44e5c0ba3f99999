"""A cost matrix as a table for a terminal, with both axes named."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import open_table
from offdiag.cli.text import label, printable
from offdiag.store.cost_matrices import CostMatrixRecord


def cost_table(found: CostMatrixRecord) -> Table:
    """What each answer costs for each actual class."""
    names = [label(name) for name in found.costs.labels.names]
    unit = "" if found.costs.currency is None else f", in {found.costs.currency}"
    table = open_table(
        title=printable(f"{found.name}@{found.version}: cost of each answer{unit}"),
        caption=None if found.note is None else printable(found.note),
    )
    table.add_column(Text("actual ↓  predicted →"))
    for name in names:
        table.add_column(Text(name), justify="right")
    for name, costs in zip(names, found.costs.weights.tolist(), strict=True):
        table.add_row(Text(name), *(f"{cost:g}" for cost in costs))
    return table
