"""`offdiag cost …`: cost matrices by name and version, and the differences between two."""

from __future__ import annotations

from pathlib import Path

import click

from offdiag.cli.call import Call, Shown, project_option, registry_options
from offdiag.cli.documents import answered, ask, connected
from offdiag.cli.options import help_text
from offdiag.cli.output import label
from offdiag.cli.read.cost_runs import apply, decide, labels, rank
from offdiag.cli.read.cost_tables import cost_table, difference_table, list_table
from offdiag.domain.sentences import listed, visible
from offdiag.domain.sentences import name as name_in_text
from offdiag.domain.texts import CostName, name_segment
from offdiag.inputs.files.costs import read_weights
from offdiag.metrics.costs.matrix import CostOddity, changed_costs, check_costs
from offdiag.records.base import Request
from offdiag.records.cost import (
    CostList,
    Costs,
    CostsQuery,
    NewCosts,
    asked_cost_list,
    asked_new_costs,
    costs_request,
    plain_weights,
)
from offdiag.records.datasets.dataset import AskedAgain, Judging, asked_judging
from offdiag.sdk.cost import cost_matrix_in
from offdiag.sdk.target import current_author


@help_text(
    "cost diff screening@1 screening@2",
    see=("cost show",),
    arguments={
        "first": "Name of the cost matrix; add @VERSION for an older version.",
        "second": "The other cost matrix.",
    },
    no="a cost differs",
)
@click.command()
@click.argument("first", metavar="NAME[@VERSION]")
@click.argument("second", metavar="NAME[@VERSION]")
@project_option("Project they belong to.")
@registry_options
def diff(*, first: str, second: str, project: str, call: Call) -> None:
    """Show the costs that differ between two cost matrices. Exit code 1 if any does.

    Classes are matched by name. Classes that only one of them has are listed.
    """
    with connected(call.url) as registry:
        before, after = (
            answered(registry, costs_request(project, CostName.parse(name)))
            for name in (first, second)
        )
    changes = changed_costs(cost_matrix_in(before), cost_matrix_in(after))
    facts = _other_differences(before, after)
    shown: list[Shown] = [*facts]
    if changes:
        shown.append(difference_table(_name(before), _name(after), changes))
    call.print(
        {
            "before": {"name": before.name, "version": before.version},
            "after": {"name": after.name, "version": after.version},
            "currencies": [before.currency, after.currency],
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
        },
        shown or "No cost differs.",
    )
    if changes or facts:
        click.get_current_context().exit(1)


def _other_differences(before: Costs, after: Costs) -> list[str]:
    """Sentences on classes that only one has, and on different currencies."""
    found = []
    for one, other in ((before, after), (after, before)):
        names = _only(one, other)
        if names:
            found.append(f"Only {_name(one)} has {', '.join(map(label, names))}.")
    if before.currency != after.currency:
        currencies = (label(each.currency or "none") for each in (before, after))
        found.append(f"Currency: {' → '.join(currencies)}.")
    return found


def _only(one: Costs, other: Costs) -> list[str]:
    return [name for name in one.labels if name not in other.labels]


def _name(costs: Costs) -> str:
    return visible(f"{costs.name}@{costs.version}")


_project = project_option("Project it belongs to.")


@click.group()
def cost() -> None:
    """Manage cost matrices, and compare runs by what their errors cost."""


for _verb in (diff, apply, rank, decide, labels):
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
@registry_options
def add(
    *, name: str, file: Path, dataset: str, note: str | None, project: str, call: Call
) -> None:
    """Store the cost matrix in FILE as NAME, as a new version if it changed.

    FILE is TOML, JSON or CSV and names every cell by actual and predicted class.
    """
    given = read_weights(file)
    weights = plain_weights(given.weights)
    # The store checks the weights, and reports what is wrong.
    asked = NewCosts.model_construct(
        project=project,
        dataset=dataset,
        name=name,
        weights=weights,
        currency=given.currency,
        note=given.note if note is None else note,
        author=current_author(),
    )
    request = Request(
        "/cost-matrices",
        Costs,
        lambda at: asked_new_costs(at, asked, weights, asked.author),
        asked,
        "POST",
    )
    costs = ask(call, request)
    text = f"{costs.name}@{costs.version} is stored."
    if costs.version > 1:
        text += f" The version before is {costs.name}@{costs.version - 1}."
    matrix = cost_matrix_in(costs)
    for warning in check_costs(matrix):
        if warning.oddity is CostOddity.ERROR_IS_CHEAPER:
            classes = listed([name_in_text(matrix.labels.names[code]) for code in warning.classes])
            text += f"\nFor actual {classes}, an error costs less than the correct prediction."
    call.print(costs, text)


@help_text("cost list", "cost list --json", see=("cost show",))
@cost.command(name="list")
@click.option("--project", help="Only those of this project.")
@registry_options
def list_costs(project: str | None, call: Call) -> None:
    """List cost matrices, each in its newest version."""
    wanted = CostsQuery(project=project)
    found = ask(
        call, Request("/cost-matrices", CostList, lambda at: asked_cost_list(at, wanted), wanted)
    )
    call.print(
        found,
        list_table(found.cost_matrices) if found.cost_matrices else "There are no cost matrices.",
    )


@help_text(
    "cost show screening",
    "cost show screening@2 --json",
    see=("cost list", "cost add"),
    arguments={"name": "Name of the cost matrix; add @VERSION for an older version."},
)
@cost.command()
@click.argument("name", metavar="NAME[@VERSION]")
@_project
@registry_options
def show(name: str, project: str, call: Call) -> None:
    """Show a cost matrix."""
    found = ask(call, costs_request(project, CostName.parse(name)))
    call.print(found, cost_table(found))


@help_text(
    "cost default holdout screening",
    "cost default holdout --none",
    see=("cost list", "cost show"),
    arguments={"name": "Name of the cost matrix; add @VERSION for an older version."},
)
@cost.command()
@click.argument("dataset")
@click.argument("name", metavar="[NAME[@VERSION]]", required=False)
@click.option("--none", "clear", is_flag=True, help="Remove the default cost matrix.")
@_project
@registry_options
def default(*, dataset: str, name: str | None, clear: bool, project: str, call: Call) -> None:
    """Set the default cost matrix of DATASET; all its runs are re-evaluated."""
    if (name is None) != clear:
        raise click.UsageError("Name a cost matrix, or give --none.")
    asked = Judging(project=project, cost_matrix=name)
    request = Request(
        f"/datasets/{name_segment(dataset)}/cost-matrix",
        AskedAgain,
        lambda at: asked_judging(at, dataset, asked),
        asked,
        "PUT",
    )
    found = ask(call, request)
    runs = "1 run is" if found.n_runs == 1 else f"{found.n_runs} runs are"
    now = "no default cost matrix" if name is None else f"the default cost matrix {name}"
    call.print(
        {"dataset": dataset, "cost_matrix": name, "runs_asked": found.n_runs},
        f"{dataset} has {now}; {runs} re-evaluated.",
    )
