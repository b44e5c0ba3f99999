"""`offdiag approve`, `offdiag propose`, `offdiag leaders`: which run of a dataset is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from offdiag.cli.call import (
    Call,
    evaluate_waiting,
    project_option,
    registry_options,
    settings_for,
)
from offdiag.cli.documents import Server, connected, document, ids_of_runs
from offdiag.cli.options import help_text
from offdiag.domain.runs import PromotionRole
from offdiag.domain.texts import name_segment
from offdiag.records.promotion import (
    LeadersQuery,
    NewPromotion,
    Promotion,
    Promotions,
    RankedRuns,
    leaders_document,
    promotion_document,
)
from offdiag.records.runs.run import Run
from offdiag.sdk.target import current_author

if TYPE_CHECKING:
    from offdiag.store.database import Database

gate_option = click.option(
    "--require",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help='Check the run first, such as "recall[mel] >= 0.8"; may be repeated.',
)


@help_text(
    'approve r_4bcd6fgh8jkm --reason "highest recall of mel at the lowest cost"',
    'approve r_4bcd6fgh8jkm --reason "retrained" --require "recall[mel] >= 0.8"',
    see=("propose", "leaders", "gate"),
    arguments={"run_id": "Id or name of an evaluated run."},
)
@click.command()
@click.argument("run_id", metavar="RUN", callback=ids_of_runs)
@click.option("--reason", required=True, help="Why this run is used; recorded with the decision.")
@gate_option
@click.option(
    "--although-gate-fails", is_flag=True, help="Approve the run even if a condition fails."
)
@registry_options
def approve(
    *, run_id: str, reason: str, conditions: tuple[str, ...], although_gate_fails: bool, call: Call
) -> None:
    """Make RUN the champion of its dataset.

    The decision is recorded with its author, time, label version and metrics. A run that fails
    a condition is refused unless --although-gate-fails is given.
    """
    asked = NewPromotion(
        run=run_id,
        reason=reason,
        author=current_author(),
        gate=list(conditions),
        although_gate_fails=although_gate_fails,
    )
    _promote(PromotionRole.CHAMPION, run_id, asked, call)


@help_text(
    "propose r_4bcd6fgh8jkm",
    see=("approve", "leaders"),
    arguments={"run_id": "Id or name of an evaluated run."},
)
@click.command()
@click.argument("run_id", metavar="RUN", callback=ids_of_runs)
@click.option("--reason", help="Why it is proposed.")
@gate_option
@registry_options
def propose(*, run_id: str, reason: str | None, conditions: tuple[str, ...], call: Call) -> None:
    """Make RUN the candidate of its dataset: the proposed next champion."""
    asked = NewPromotion(run=run_id, reason=reason, author=current_author(), gate=list(conditions))
    _promote(PromotionRole.CANDIDATE, run_id, asked, call)


def _promote(role: PromotionRole, run_id: str, asked: NewPromotion, call: Call) -> None:
    with connected(call.url) as registry:
        if isinstance(registry, Server):
            found = _of_server(registry, role, run_id, asked)
        else:
            found = _stored(registry, role, run_id, asked)
    call.print(found, _lines(found))


def _lines(found: Promotion) -> Iterator[str]:
    yield f"{found.run_name} ({found.run}) is the {found.role.value} of its dataset."
    for condition in () if found.gate is None else found.gate["conditions"]:
        yield f"  {'passed' if condition['passed'] else 'failed'}: {condition['condition']}"


def _of_server(server: Server, role: PromotionRole, run_id: str, asked: NewPromotion) -> Promotion:
    run = server.ask(f"/runs/{run_id}", Run)
    found = server.ask(
        f"/datasets/{name_segment(run.dataset)}/{role}",
        Promotions,
        method="PUT",
        body=asked.model_copy(update={"project": run.project}),
    )
    return next(each for each in found.history if (each.run, each.role) == (run_id, role))


def _stored(
    database: Database, role: PromotionRole, run_id: str, asked: NewPromotion
) -> Promotion:
    from offdiag.services.champions.promotions import promote

    evaluate_waiting(database)
    made = promote(
        database,
        role,
        run_id,
        reason=asked.reason,
        author=asked.author,
        conditions=asked.gate,
        although_gate_fails=asked.although_gate_fails,
        settings=settings_for(None),
    )
    return promotion_document(made)


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
    found = document(
        call.url,
        f"/datasets/{name_segment(dataset)}/leaders",
        RankedRuns,
        query=wanted,
        stored=lambda database: _stored_leaders(database, dataset, wanted),
        of_results=True,
    )
    call.print(found, _best_set(found))


def _best_set(found: RankedRuns) -> Iterator[str]:
    if found.why_not_tested is not None:
        yield f"No best set: {found.why_not_tested}."
    else:
        runs = f"{found.n_runs} runs"
        if found.n_runs > len(found.runs):
            runs = f"the first {len(found.runs)} of {runs}, which alone were compared,"
        yield f"{len(found.best_set)} of {runs} may be the best by {found.metric}."
    best = [each for each in found.runs if each.in_best_set]
    for each in best or found.runs[:10]:
        value = each.value
        ci = "" if value.ci_low is None else f" (CI {value.ci_low:.3f} to {value.ci_high:.3f})"
        yield f"  {value.value:.3f}{ci}  {each.name}  {each.id}"


def _stored_leaders(database: Database, dataset: str, wanted: LeadersQuery) -> RankedRuns:
    from offdiag.services.champions.leaders import leaders_of
    from offdiag.services.truth.versions import dataset_named

    with database.read() as session:
        known = dataset_named(session, project=wanted.project, name=dataset)
    found = leaders_of(database, known, metric=wanted.metric)
    return leaders_document(found, project=known.project, dataset=known.name)
