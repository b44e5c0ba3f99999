"""`offdiag cost …`: cost matrices by name and version, and the differences between two."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.cost_runs import apply, decide, rank
from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import print_json, print_tables
from offdiag.cli.registry import opened, settings_for

if TYPE_CHECKING:
    from rich.table import Table

    from offdiag.metrics.costs.matrix import CostChange
    from offdiag.store.cost_matrices import CostMatrixRecord


@help_text(
    "cost diff screening@1 screening@2",
    see=("cost show",),
    arguments={
        "first": "Name of the cost matrix, with @ and a version where an older one is meant.",
        "second": "The same for the other one.",
    },
    no="a cost differs",
)
@click.command()
@click.argument("first", metavar="NAME[@VERSION]")
@click.argument("second", metavar="NAME[@VERSION]")
@click.option("--project", help="Project they belong to.  [default: the configured one]")
@url_option
@json_option
def diff(*, first: str, second: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Show the costs that differ between two cost matrices. Exit code 1 if any does.

    Classes are matched by name; classes that only one has are named.
    """
    from offdiag.metrics.costs.matrix import changed_costs
    from offdiag.services.cost_matrices import CostName, find_costs

    settings = settings_for(url)
    with opened(settings) as database:
        before, after = (
            find_costs(database, project=project or settings.project, wanted=CostName.parse(name))
            for name in (first, second)
        )
    changes = changed_costs(before.costs, after.costs)
    facts = _other_differences(before, after)
    if as_json:
        print_json(_record(before, after, changes))
    elif not changes and not facts:
        click.echo("No cost differs.")
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
    before: CostMatrixRecord, after: CostMatrixRecord, changes: tuple[CostChange, ...]
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
    before: CostMatrixRecord, after: CostMatrixRecord, changes: tuple[CostChange, ...]
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


_project = click.option("--project", help="Project it belongs to.  [default: the configured one]")


@click.group()
def cost() -> None:
    """Manage cost matrices, and compare runs by what their errors cost."""


for _verb in (diff, apply, rank, decide):
    cost.add_command(_verb)


@help_text(
    "cost add screening costs.toml --dataset holdout",
    see=("cost show", "cost default"),
    arguments={"name": "Name of the cost matrix.", "file": "TOML, JSON or CSV."},
)
@cost.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dataset", required=True, help="Dataset with the classes of the matrix.")
@click.option("--note", help="Source of the costs.  [default: the note in FILE]")
@_project
@url_option
@json_option
def add(
    *,
    name: str,
    file: Path,
    dataset: str,
    note: str | None,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Store the cost matrix in FILE as NAME, as a new version if it changed.

    FILE is TOML, JSON or CSV and names every cell by actual and predicted class.
    """
    from offdiag.inputs.files.costs import read_weights
    from offdiag.sdk import provenance
    from offdiag.services.cost_matrices import add_costs

    settings, given = settings_for(url), read_weights(file)
    with opened(settings) as database:
        costs = add_costs(
            database,
            project=project or settings.project,
            dataset=dataset,
            name=name,
            weights=given.weights,
            currency=given.currency,
            note=given.note if note is None else note,
            author=provenance.author(),
        )
    if as_json:
        print_json(_plain(costs))
    else:
        click.echo(f"{costs.name}@{costs.version} is stored.")


@help_text("cost list", "cost list --json", see=("cost show",))
@cost.command(name="list")
@click.option("--project", help="Only those of this project.")
@url_option
@json_option
def list_costs(project: str | None, url: str | None, as_json: bool) -> None:
    """List cost matrices, each in its newest version."""
    from offdiag.cli.tables import open_table
    from offdiag.cli.text import printable
    from offdiag.store.cost_matrices import list_costs as all_costs

    with opened(settings_for(url)) as database, database.read() as session:
        found = all_costs(session, project=project)
    if as_json:
        print_json({"cost_matrices": [_plain(costs) for costs in found]})
        return
    if not found:
        click.echo("There are no cost matrices.")
        return
    table = open_table()
    for column in ("name", "version", "project", "classes", "currency", "note"):
        table.add_column(column)
    for costs in found:
        names = costs.costs.labels.preview()
        facts = (costs.name, str(costs.version), costs.project, names)
        table.add_row(
            *(printable(fact) for fact in facts),
            printable(costs.costs.currency or ""),
            printable(costs.note or ""),
        )
    print_tables(table)


@help_text(
    "cost show screening",
    "cost show screening@2 --json",
    see=("cost list", "cost add"),
    arguments={
        "name": "Name of the cost matrix, with @ and a version where an older one is meant."
    },
)
@cost.command()
@click.argument("name", metavar="NAME[@VERSION]")
@_project
@url_option
@json_option
def show(name: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Show a cost matrix."""
    from offdiag.cli.cost_tables import cost_table
    from offdiag.services.cost_matrices import CostName, find_costs

    settings = settings_for(url)
    with opened(settings) as database:
        found = find_costs(
            database, project=project or settings.project, wanted=CostName.parse(name)
        )
    if as_json:
        print_json(_plain(found))
    else:
        print_tables(cost_table(found))


@help_text(
    "cost default holdout screening",
    "cost default holdout --none",
    see=("cost list", "cost show"),
    arguments={
        "name": "Name of the cost matrix, with @ and a version where an older one is meant."
    },
)
@cost.command()
@click.argument("dataset")
@click.argument("name", metavar="[NAME[@VERSION]]", required=False)
@click.option("--none", "clear", is_flag=True, help="Remove the default cost matrix.")
@_project
@url_option
@json_option
def default(
    *,
    dataset: str,
    name: str | None,
    clear: bool,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Set the default cost matrix of DATASET; all its runs are re-evaluated."""
    if (name is None) != clear:
        raise click.UsageError("Name a cost matrix, or give --none.")
    from offdiag.services.cost_matrices import CostName, set_default_costs

    settings = settings_for(url)
    with opened(settings) as database:
        asked = set_default_costs(
            database,
            project=project or settings.project,
            dataset=dataset,
            wanted=None if name is None else CostName.parse(name),
        )
    if as_json:
        print_json({"dataset": dataset, "cost_matrix": name, "runs_asked": asked})
    else:
        now = "no default cost matrix" if name is None else f"the default cost matrix {name}"
        click.echo(f"{dataset} has {now}; {asked} runs are re-evaluated.")


def _plain(costs: CostMatrixRecord) -> dict[str, Any]:
    names = costs.costs.labels.names
    return {
        "name": costs.name,
        "version": costs.version,
        "project": costs.project,
        "currency": costs.costs.currency,
        "note": costs.note,
        "author": costs.author,
        "created_at": costs.created_at.isoformat(timespec="seconds"),
        "labels": list(names),
        "weights": {
            actual: dict(zip(names, row, strict=True))
            for actual, row in zip(names, costs.costs.weights.tolist(), strict=True)
        },
    }
