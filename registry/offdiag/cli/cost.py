"""`offdiag cost …`: what errors cost, under names and in versions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.cost_decide import decide
from offdiag.cli.cost_diff import diff
from offdiag.cli.cost_runs import apply, rank
from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import print_json, print_tables

if TYPE_CHECKING:
    from offdiag.store.cost_matrices import CostMatrixRecord

_project = click.option("--project", help="Project it belongs to.  [default: the configured one]")


@click.group()
def cost() -> None:
    """Say what errors cost, and judge the runs of a dataset by it."""


for _verb in (diff, apply, rank, decide):
    cost.add_command(_verb)


@cost.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dataset", required=True, help="The dataset whose classes the costs are about.")
@click.option("--note", help="Where the costs come from.  [default: the note in FILE]")
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
    """Store the costs in FILE under NAME, as a new version if they have changed.

    FILE is TOML, JSON or CSV and names every cell by actual and predicted class.
    """
    from offdiag.cli.registry import opened
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


@cost.command(name="list")
@click.option("--project", help="Only those of this project.")
@url_option
@json_option
def list_costs(project: str | None, url: str | None, as_json: bool) -> None:
    """List cost matrices, each in its newest version."""
    from offdiag.cli.registry import opened
    from offdiag.cli.tables import open_table
    from offdiag.cli.text import printable
    from offdiag.services.cost_matrices import list_costs as all_costs

    with opened(settings_for(url)) as database:
        found = all_costs(database, project=project)
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


@cost.command()
@click.argument("name", metavar="NAME[@VERSION]")
@_project
@url_option
@json_option
def show(name: str, project: str | None, url: str | None, as_json: bool) -> None:
    """Show a cost matrix."""
    from offdiag.cli.cost_table import cost_table
    from offdiag.cli.registry import opened
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


@cost.command()
@click.argument("dataset")
@click.argument("name", metavar="[NAME[@VERSION]]", required=False)
@click.option("--none", "clear", is_flag=True, help="Judge by no costs any more.")
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
    """Judge the runs of DATASET by a cost matrix from now on; all are evaluated again."""
    if (name is None) != clear:
        raise click.UsageError("Name a cost matrix, or give --none.")
    from offdiag.cli.registry import opened
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
        judged = "no costs" if name is None else name
        click.echo(f"{dataset} is judged by {judged}; {asked} runs are evaluated again.")


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
