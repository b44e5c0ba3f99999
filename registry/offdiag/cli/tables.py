"""Evaluations and runs as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from offdiag.cli.text import label, number, printable
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix

MOST_CLASSES = 20
"""A matrix of more classes is no longer read on a terminal; JSON has all of it."""
PER_CLASS_KEYS = ("support", "predicted", "recall", "precision", "f1")


def open_table(*, title: str | None = None, caption: str | None = None) -> Table:
    """An empty table in the house form: no boxes, so that wide ones fit."""
    return Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title=_unfolded(title),
        title_justify="left",
        caption=_unfolded(caption),
        caption_justify="left",
    )


def _unfolded(text: str | None) -> Text | None:
    """A line over or under a table may be wider than a narrow table."""
    return None if text is None else Text(text, no_wrap=True, overflow="ignore")


def matrix_table(matrix: ConfusionMatrix) -> Table:
    """Counts with both axes named."""
    names = [label(name) for name in matrix.labels.names]
    table = open_table(
        title=f"Confusion matrix: actual class down, predicted class across, n = {matrix.total}"
    )
    table.add_column(Text("actual ↓  predicted →"))
    for name in names:
        table.add_column(Text(name), justify="right")
    table.add_column("support", justify="right", style="dim")
    rows = zip(names, matrix.counts.tolist(), matrix.actual.tolist(), strict=True)
    for code, (name, counts, support) in enumerate(rows):
        cells = [
            Text(str(count), style="bold" if place == code else "")
            for place, count in enumerate(counts)
        ]
        table.add_row(Text(name), *cells, str(support))
    return table


def class_table(
    names: Sequence[str],
    per_class: Mapping[str, Sequence[MetricValue]],
    *,
    keys: Sequence[str] = PER_CLASS_KEYS,
) -> Table:
    """The values of `keys`, as far as they exist; `per_class` is by key, in label order."""
    keys = [key for key in keys if key in per_class]
    table = open_table(title="Each class against the rest")
    table.add_column("class")
    for key in keys:
        table.add_column(key, justify="right")
    for code, name in enumerate(names):
        table.add_row(
            Text(label(name)), *(Text(number(key, per_class[key][code])) for key in keys)
        )
    return table


def aggregate_table(aggregate: Mapping[str, MetricValue]) -> Table:
    """All metrics of the whole matrix, with what is to be known of their intervals."""
    table = open_table(title="All classes together")
    table.add_column("metric")
    table.add_column("value")
    said = {key: value.remark for key, value in aggregate.items()}
    if any(said.values()):
        table.add_column("about the interval")
    for key, value in aggregate.items():
        cells = [Text(number(key, value))]
        if any(said.values()):
            cells.append(Text(said[key] or ""))
        table.add_row(key, *cells)
    return table


def facts_table(title: str, facts: Mapping[str, str]) -> Table:
    """Names and values beside each other."""
    table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2))
    for name, value in facts.items():
        table.add_row(Text(name, style="dim"), Text(printable(value)))
    return table
