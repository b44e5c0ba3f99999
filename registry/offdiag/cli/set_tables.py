"""Evaluations of sets of labels as tables for a terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import open_table
from offdiag.cli.text import label
from offdiag.metrics.counted import CountedSets

_CELLS = ("tp", "fn", "fp", "tn")


def mass_table(counted: CountedSets) -> Table:
    """The multi-label matrix with both axes named and two decimals."""
    names = [label(name) for name in counted.labels.names]
    table = open_table(
        title="Multi-label matrix: actual label down, predicted label across, n = "
        f"{counted.matrix.n_cases}",
        caption="fractional shares, Algorithm 1",
    )
    table.add_column(Text("actual ↓  predicted →"))
    for name in names:
        table.add_column(Text(name), justify="right")
    for code, (name, masses) in enumerate(zip(names, counted.matrix.cells.tolist(), strict=True)):
        cells = [
            Text(f"{mass:.2f}", style="bold" if place == code else "")
            for place, mass in enumerate(masses)
        ]
        table.add_row(Text(name), *cells)
    return table


def label_count_table(counted: CountedSets) -> Table:
    """The two-by-two table of each label, a line each."""
    cells = counted.tally.labels.one_vs_rest()
    table = open_table(
        title=f"Each label: in the true set, in the predicted set, n = {counted.total}"
    )
    table.add_column("label")
    for key in _CELLS:
        table.add_column(key, justify="right")
    counts = zip(*(getattr(cells, key).tolist() for key in _CELLS), strict=True)
    for name, row in zip(counted.labels.names, counts, strict=True):
        table.add_row(Text(label(name)), *(str(int(count)) for count in row))
    return table
