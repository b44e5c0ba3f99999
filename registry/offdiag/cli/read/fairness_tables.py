"""Fairness between groups as tables."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from offdiag.cli.tables import filled_table
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.records.base import Value
from offdiag.records.fairness import Fairness, FairnessOfClass


def fairness_tables(found: Fairness) -> Iterator[Table]:
    """The criteria, then the rates of the groups, of each class."""
    for each in found.classes:
        yield filled_table(
            ("criterion", "largest difference", "smallest ratio"),
            (
                (line.criterion.name_in_words, _text(line.difference), _text(line.ratio))
                for line in each.criteria
            ),
            title=f"{each.class_label} by {found.by}",
            caption=" ".join(filter(None, (each.conflict, _left_out(found)))),
        )
        yield _rates(found, each)


def _rates(found: Fairness, each: FairnessOfClass) -> Table:
    specs = CATALOGUE[Scope.PER_CLASS]
    return filled_table(
        (found.by, "n", *(specs[key].title.lower() for key in each.rates)),
        (
            (name, str(n), *(_text(values[name]) for values in each.rates.values()))
            for name, n in found.groups.items()
        ),
        right=("n",),
        caption="Brackets: 95 % CI.",
    )


def _left_out(found: Fairness) -> str:
    few = ", ".join(f"{name} ({n})" for name, n in found.too_small.items())
    parts = [f"Fewer than {found.min_size} labelled examples: {few}."] if few else []
    if found.suppressed:
        names = ", ".join(found.suppressed)
        parts.append(f"Suppressed below {found.suppressed_below}: {names}.")
    return " ".join(parts)


def _text(value: Value) -> str:
    if value.value is None:
        return f"undefined ({(value.reason or '').replace('_', ' ')})"
    low, high = value.ci_low, value.ci_high
    if low is None or high is None:
        return f"{value.value:.3f}"
    return f"{value.value:.3f} [{low:.3f}, {high:.3f}]"
