"""Fairness between groups as tables."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from offdiag.cli.output import number
from offdiag.cli.tables import filled_table
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.records.base import Value
from offdiag.records.runs.slices import Fairness, FairnessOfClass


def fairness_tables(found: Fairness) -> Iterator[Table]:
    """The criteria, then the rates of the groups, of each class."""
    for each in found.classes:
        yield filled_table(
            ("criterion", "largest difference", "smallest ratio"),
            (
                (
                    line.criterion.name_in_words,
                    _text("difference", line.difference),
                    _text("ratio", line.ratio),
                )
                for line in each.criteria
            ),
            title=f"{each.class_label} by {found.by}",
            caption=" ".join(filter(None, (each.conflict, *found.left_out()))),
        )
        yield _rates(found, each)


def _rates(found: Fairness, each: FairnessOfClass) -> Table:
    specs = CATALOGUE[Scope.PER_CLASS]
    return filled_table(
        (found.by, "n", *(specs[key].title.lower() for key in each.rates)),
        (
            (name, str(n), *(_text(key, values[name]) for key, values in each.rates.items()))
            for name, n in found.groups.items()
        ),
        right=("n",),
        caption="Brackets: 95 % CI.",
    )


def _text(key: str, value: Value) -> str:
    if value.value is None:
        return f"undefined ({(value.reason or '').replace('_', ' ')})"
    return number(key, value.measured())
