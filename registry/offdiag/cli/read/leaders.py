"""`offdiag leaders`: the runs of a dataset that may be the best one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from offdiag.cli.call import Call, project_option, registry_options
from offdiag.cli.documents import ask
from offdiag.cli.options import help_text
from offdiag.cli.output import number, three_decimals
from offdiag.domain.number_text import count
from offdiag.domain.runs import choice_text, chosen_here_text, not_ranked_text
from offdiag.domain.texts import name_segment
from offdiag.records.base import Request
from offdiag.records.promotion import RankedRuns, leaders_document
from offdiag.records.runs.run_list import LeadersQuery

if TYPE_CHECKING:
    from offdiag.store.database import Database


@help_text(
    "leaders derm-7",
    "leaders derm-7 --metric mcc --json",
    see=("compare", "approve"),
    arguments={"dataset": "Name of the dataset."},
)
@click.command()
@click.argument("dataset", metavar="DATASET")
@project_option("Project of the dataset.")
@click.option("--metric", help="Rank by this metric.  [default: the primary one of the dataset]")
@registry_options
def leaders(*, dataset: str, project: str, metric: str | None, call: Call) -> None:
    """List the runs of DATASET that may be the best one.

    The set contains the best run with 95 % confidence, corrected for the number of runs.
    """
    wanted = LeadersQuery(project=project, metric=metric)
    request = Request(
        f"/datasets/{name_segment(dataset)}/leaders",
        RankedRuns,
        lambda at: _stored_leaders(at, dataset, wanted),
        wanted,
    )
    found = ask(call, request, of_results=True)
    call.print(found, _best_set(found))


def _best_set(found: RankedRuns) -> Iterator[str]:
    if found.why_not_tested is not None:
        yield f"No best set: {found.why_not_tested}."
    else:
        n_compared = len(found.runs) - found.n_chosen_here
        runs = count(n_compared, "run")
        if found.n_runs > len(found.runs):
            runs = f"the first {n_compared} of {found.n_runs} runs, which alone were compared,"
        yield f"{len(found.best_set)} of {runs} may be the best by {found.metric}."
    best = [each for each in found.runs if each.in_best_set]
    for each in best or found.runs[:10]:
        value, low, high = each.value, each.value.ci_low, each.value.ci_high
        ci = ""
        if low is not None and high is not None:
            ci = f" (CI {three_decimals(low)} to {three_decimals(high)})"
        text = number(found.metric, value.measured(), with_interval=False)
        yield f"  {text}{ci}  {each.name}  {each.id}"
    if found.best_of_many is not None:
        yield choice_text(found.best_of_many.n_runs, found.best_of_many.corrected.value)
    if found.n_chosen_here and found.why_not_tested is None:
        yield chosen_here_text(found.n_chosen_here)
    if found.n_weighted:
        yield not_ranked_text(found.n_weighted)


def _stored_leaders(database: Database, dataset: str, wanted: LeadersQuery) -> RankedRuns:
    from offdiag.services.champions.leaders import corrected_leaders
    from offdiag.store.datasets import dataset_named

    with database.read() as session:
        known = dataset_named(session, project=wanted.project, name=dataset)
    found = corrected_leaders(database, known, metric=wanted.metric)
    return leaders_document(found, project=known.project, dataset=known.name)
