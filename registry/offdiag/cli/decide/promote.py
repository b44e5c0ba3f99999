"""`offdiag approve` and `offdiag propose`: which run of a dataset is used."""

from __future__ import annotations

from collections.abc import Iterator

import click

from offdiag.cli.call import Call, evaluate_waiting, registry_options, settings_for
from offdiag.cli.documents import Server, connected, ids_of_runs
from offdiag.cli.options import help_text
from offdiag.domain.runs import PromotionRole
from offdiag.domain.texts import name_segment
from offdiag.records.promotion import NewPromotion, Promotion, Promotions, asked_promotion
from offdiag.records.runs.run import Run
from offdiag.sdk.target import current_author

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
            evaluate_waiting(registry)
            by, settings = asked.author, settings_for(None)
            found = asked_promotion(registry, role, run_id, asked, author=by, settings=settings)
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
        asked.model_copy(update={"project": run.project}),
        method="PUT",
    )
    return next(each for each in found.history if (each.run, each.role) == (run_id, role))
