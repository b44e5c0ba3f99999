"""`offdiag approve`, `offdiag propose`, `offdiag leaders`: which run of a dataset is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import print_json
from offdiag.cli.registry import opened, settings_for

if TYPE_CHECKING:
    from offdiag.store.promotions import PromotionRecord

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
    arguments={"run_id": "Id of an evaluated run."},
)
@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--reason", required=True, help="Why this run is used; recorded with the decision.")
@gate_option
@click.option(
    "--although-gate-fails", is_flag=True, help="Approve the run even if a condition fails."
)
@url_option
@json_option
def approve(
    *,
    run_id: str,
    reason: str,
    conditions: tuple[str, ...],
    although_gate_fails: bool,
    url: str | None,
    as_json: bool,
) -> None:
    """Make RUN the champion of its dataset.

    The decision is recorded with its author, time, label version and metrics. A run that fails
    a condition is refused unless --although-gate-fails is given.
    """
    from offdiag.sdk import provenance
    from offdiag.services.champions import promotions

    settings = settings_for(url)
    with opened(settings) as database:
        gate = promotions.check_gate(database, run_id, conditions, settings)
        found = promotions.approve(
            database,
            run_id,
            reason=reason,
            author=provenance.author(),
            gate=gate,
            although_gate_fails=although_gate_fails,
        )
    _show(found, as_json=as_json)


@help_text(
    "propose r_4bcd6fgh8jkm",
    see=("approve", "leaders"),
    arguments={"run_id": "Id of an evaluated run."},
)
@click.command()
@click.argument("run_id", metavar="RUN")
@click.option("--reason", help="Why it is proposed.")
@gate_option
@url_option
@json_option
def propose(
    *,
    run_id: str,
    reason: str | None,
    conditions: tuple[str, ...],
    url: str | None,
    as_json: bool,
) -> None:
    """Make RUN the candidate of its dataset: the proposed next champion."""
    from offdiag.sdk import provenance
    from offdiag.services.champions import promotions

    settings = settings_for(url)
    with opened(settings) as database:
        gate = promotions.check_gate(database, run_id, conditions, settings)
        found = promotions.propose(
            database, run_id, reason=reason, author=provenance.author(), gate=gate
        )
    _show(found, as_json=as_json)


def _show(found: PromotionRecord, *, as_json: bool) -> None:
    from offdiag.records.promotion import promotion_document

    if as_json:
        print_json(promotion_document(found).model_dump(mode="json"))
        return
    click.echo(f"{found.run_name} ({found.run_id}) is the {found.role.value} of its dataset.")
    if found.gate is not None:
        for condition in found.gate["conditions"]:
            click.echo(
                f"  {'passed' if condition['passed'] else 'failed'}: {condition['condition']}"
            )


@help_text(
    "leaders derm-7",
    "leaders derm-7 --metric mcc --json",
    see=("compare", "approve"),
    arguments={"dataset": "Name of the dataset."},
)
@click.command()
@click.argument("dataset", metavar="DATASET")
@click.option("--project", help="Project of the dataset.  [default: the configured one]")
@click.option("--metric", help="Rank by this metric.  [default: the primary one of the dataset]")
@url_option
@json_option
def leaders(
    *, dataset: str, project: str | None, metric: str | None, url: str | None, as_json: bool
) -> None:
    """List the runs of DATASET that may be the best one.

    The set contains the best run with 95 % confidence, corrected for the number of runs.
    """
    from offdiag.records.promotion import leaders_document
    from offdiag.services.champions.leaders import leaders_of
    from offdiag.services.truth.versions import dataset_named

    settings = settings_for(url)
    with opened(settings) as database:
        with database.read() as session:
            known = dataset_named(session, project=project or settings.project, name=dataset)
        found = leaders_of(database, known, metric=metric)
    if as_json:
        document = leaders_document(found, project=known.project, dataset=known.name)
        print_json(document.model_dump(mode="json"))
        return
    if found.why_not_tested is not None:
        click.echo(f"No best set: {found.why_not_tested}.")
    else:
        click.echo(
            f"{len(found.best_set)} of {found.total} runs may be the best by {found.metric}."
        )
    for each in found.best_set or found.runs[:10]:
        value, name = each.run.value, each.run.name
        ci = "" if value.ci_low is None else f" (CI {value.ci_low:.3f} to {value.ci_high:.3f})"
        click.echo(f"  {value.value:.3f}{ci}  {name}  {each.run.id}")
