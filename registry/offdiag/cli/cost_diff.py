"""`offdiag cost diff`: which prices differ between two cost matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import print_json, print_tables

if TYPE_CHECKING:
    from rich.table import Table

    from offdiag.metrics.costs.matrix import PriceChange
    from offdiag.store.cost_matrices import CostMatrixRecord


@click.command()
@click.argument("first", metavar="NAME[@VERSION]")
@click.argument("second", metavar="NAME[@VERSION]")
@click.option("--project", help="Project they belong to.  [default: the configured one]")
@url_option
@json_option
def diff(*, first: str, second: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Show the prices that differ between two cost matrices. Exit code 1 if any does.

    Classes are matched by name, whatever their order; classes that only one has are named.
    """
    from offdiag.cli.registry import opened
    from offdiag.metrics.costs.matrix import changed_prices
    from offdiag.services.cost_matrices import CostName, find_costs

    settings = settings_for(url)
    with opened(settings) as database:
        before, after = (
            find_costs(database, project=project or settings.project, wanted=CostName.parse(name))
            for name in (first, second)
        )
    changes = changed_prices(before.costs, after.costs)
    facts = _other_differences(before, after)
    if as_json:
        print_json(_record(before, after, changes))
    elif not changes and not facts:
        click.echo("No price differs.")
    else:
        for fact in facts:
            click.echo(fact)
        if changes:
            print_tables(_table(before, after, changes))
    if changes or facts:
        click.get_current_context().exit(1)


def _other_differences(before: CostMatrixRecord, after: CostMatrixRecord) -> list[str]:
    """Classes that only one has, and another currency, in words."""
    from offdiag.cli.text import label

    found = []
    for text, names in (
        (_name(before), _only(before, after)),
        (_name(after), _only(after, before)),
    ):
        if names:
            found.append(f"Only {text} has {', '.join(map(label, names))}.")
    if before.costs.currency != after.costs.currency:
        currencies = (label(each.costs.currency or "none") for each in (before, after))
        found.append(f"Currency: {' → '.join(currencies)}.")
    return found


def _only(one: CostMatrixRecord, other: CostMatrixRecord) -> list[str]:
    return [name for name in one.costs.labels.names if name not in other.costs.labels.index]


def _name(record: CostMatrixRecord) -> str:
    from offdiag.cli.text import printable

    return printable(f"{record.name}@{record.version}")


def _table(
    before: CostMatrixRecord, after: CostMatrixRecord, changes: tuple[PriceChange, ...]
) -> Table:
    from rich.text import Text

    from offdiag.cli.tables import open_table
    from offdiag.cli.text import label

    table = open_table()
    for name in ("actual", "predicted"):
        table.add_column(name)
    for name in (_name(before), _name(after), "times"):
        table.add_column(Text(name), justify="right")
    for change in changes:
        table.add_row(
            Text(label(change.actual)),
            Text(label(change.predicted)),
            f"{change.before:g}",
            f"{change.after:g}",
            "" if change.factor is None else f"{change.factor:.3g}",
        )
    return table


def _record(
    before: CostMatrixRecord, after: CostMatrixRecord, changes: tuple[PriceChange, ...]
) -> dict[str, Any]:
    return {
        "before": {"name": before.name, "version": before.version},
        "after": {"name": after.name, "version": after.version},
        "currencies": [before.costs.currency, after.costs.currency],
        "only_before": _only(before, after),
        "only_after": _only(after, before),
        "cells": [
            {
                "actual": change.actual,
                "predicted": change.predicted,
                "before": change.before,
                "after": change.after,
            }
            for change in changes
        ],
    }
