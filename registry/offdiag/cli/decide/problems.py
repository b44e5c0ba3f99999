"""`offdiag problems`: what is wrong with the newest runs of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from offdiag.cli.call import Call, registry_options
from offdiag.cli.documents import ask, note_unknown_name
from offdiag.cli.options import help_text
from offdiag.cli.tables import filled_table
from offdiag.flags.problem_words import problem_name
from offdiag.flags.problems import ProblemState
from offdiag.records.base import Request
from offdiag.records.problem import Problem, Problems, ProblemsQuery, asked_problems

if TYPE_CHECKING:
    from rich.table import Table


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
@click.option("--low", is_flag=True, help="Include problems of low severity and of old runs.")
@registry_options
def problems(
    *,
    state: str | None,
    dataset: str | None,
    project: str | None,
    model: str | None,
    low: bool,
    call: Call,
) -> None:
    """List problems: flags grouped over the runs of a model."""
    wanted = ProblemsQuery(
        state=None if state is None else ProblemState(state),
        low=low,
        dataset=dataset,
        project=project,
        model=model,
    )
    request = Request("/problems", Problems, lambda at: asked_problems(at, wanted)[0], wanted)
    found = ask(call, request, of_results=True)
    none = "There are no such problems."
    if not low:
        none = f"{none} --low includes those of low severity and of old runs."
    call.print(found, _table(found.problems) if found.problems else none)
    if not found.problems:
        note_unknown_name(call.url, project=project, dataset=dataset)


def _table(listed: list[Problem]) -> Table:
    columns = ("problem", "severity", "what", "model", "dataset", "hits", "runs", "now", "state")
    return filled_table(
        columns,
        (
            (
                problem_name(each.id),
                each.severity.value,
                each.title,
                each.model or "",
                each.dataset,
                ", ".join(hit.value for hit in each.hits),
                f"{each.runs_affected} of {each.runs_looked_at} since {each.since:%Y-%m-%d}",
                each.value,
                each.state.value,
            )
            for each in listed
        ),
    )
