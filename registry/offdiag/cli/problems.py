"""`offdiag problems`: what is wrong with the newest runs of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import print_json, print_tables
from offdiag.cli.registry import opened, settings_for

if TYPE_CHECKING:
    from rich.table import Table

    from offdiag.records.flag import Problem

STATES = ("open", "accepted", "snoozed", "dismissed", "closed")


@help_text(
    "problems --dataset derm-7",
    "problems --state closed --low",
    see=("flags list",),
)
@click.command()
@click.option(
    "--state", type=click.Choice(STATES), help="Only problems in this state; default: unresolved."
)
@click.option("--dataset", help="Only problems on this dataset.")
@click.option("--project", help="Only problems of this project.")
@click.option("--model", help="Only problems of this model.")
@click.option("--low", is_flag=True, help="Also problems of low severity and of old runs.")
@url_option
@json_option
def problems(
    *,
    state: str | None,
    dataset: str | None,
    project: str | None,
    model: str | None,
    low: bool,
    url: str | None,
    as_json: bool,
) -> None:
    """List problems: flags grouped over the runs of a model."""
    from offdiag.flags.problems import ProblemState
    from offdiag.records.flag import Problems, chosen_problems, problem_documents
    from offdiag.store.problems import FoundProblems, find_problems, measure

    wanted = None if state is None else ProblemState(state)
    with opened(settings_for(url)) as database, database.read() as session:
        found = find_problems(
            session, now=database.clock(), dataset=dataset, project=project, model=model
        )
        chosen = chosen_problems(found, state=wanted, low=low)
        measured = measure(session, FoundProblems(tuple(chosen), found.datasets))
    listed = problem_documents(chosen, found, measured)
    if as_json:
        print_json(Problems(problems=listed).plain())
    elif listed:
        print_tables(_table(listed))
    else:
        click.echo("There are no such problems.")


def _table(listed: list[Problem]) -> Table:
    from rich.text import Text

    from offdiag.cli.tables import open_table
    from offdiag.cli.text import printable
    from offdiag.flags.problem_words import problem_name

    table = open_table()
    for name in (
        *("problem", "severity", "what", "model", "dataset", "hits"),
        *("runs", "now", "state"),
    ):
        table.add_column(name)
    for each in listed:
        table.add_row(
            problem_name(each.id),
            each.severity.value,
            Text(printable(each.title)),
            Text(printable(each.model or "")),
            Text(printable(each.dataset)),
            ", ".join(hit.value for hit in each.hits),
            f"{each.runs_affected} of {each.runs_looked_at} since {each.since:%Y-%m-%d}",
            each.value,
            each.state.value,
        )
    return table
