"""`offdiag cost decide`: what the scores of a run would answer, and keeping that as a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import busy, print_json, print_tables

if TYPE_CHECKING:
    from offdiag.services.decisions.saving import Choice

CHEAPEST = "cheapest"


@click.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--matrix",
    "costs",
    metavar="NAME[@VERSION]",
    help="Costs to decide by.  [default: those of the dataset]",
)
@click.option(
    "--threshold",
    metavar="NUMBER|cheapest",
    help="Flag from this score on, or from the score that is cheapest on these cases.  "
    "[default: answer what is cheapest to expect]",
)
@click.option("--positive", metavar="CLASS", help="Class to flag where the dataset names none.")
@click.option(
    "--share",
    "shares",
    metavar="CLASS:SHARE,...",
    default="",
    help="Class shares at deployment; the others divide the rest as in the test set.",
)
@click.option("--save-as", metavar="NAME", help="Keep the answers as a run of this name.")
@url_option
@json_option
def decide(
    *,
    run_id: str,
    costs: str | None,
    threshold: str | None,
    positive: str | None,
    shares: str,
    save_as: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Decide the cases of RUN anew from its scores, by costs, and say what that changes.

    Without --threshold each case gets the answer that is cheapest to expect, for which the
    scores have to be probabilities. A saved run names RUN and the rule; the same rule again is
    the same run.
    """
    choice = _choice(threshold, positive)
    from offdiag.cli.cost_decision import decision_record, decision_tables
    from offdiag.cli.registry import opened
    from offdiag.sdk import provenance
    from offdiag.services.decisions.saving import (
        asked_pricing,
        default_costs,
        save_choice,
        try_rule,
    )
    from offdiag.services.what_if.scenario import Question

    with busy(f"Deciding {run_id}"), opened(settings_for(url)) as database:
        _, reference = default_costs(database, run_id, costs)
        pricing = asked_pricing(database, run_id, Question(costs=reference, shares=shares))
        trial = try_rule(database, run_id, pricing, choice)
        saved = None
        if save_as is not None:
            saved = save_choice(
                database, run_id, pricing, choice, name=save_as, author=provenance.author()
            )
    if as_json:
        print_json(decision_record(trial, saved))
        return
    print_tables(*decision_tables(trial))
    if saved is not None:
        click.echo(f"Saved as {saved.id}.")


def _choice(threshold: str | None, positive: str | None) -> Choice:
    from offdiag.services.decisions.saving import Choice, Chosen

    if threshold is None:
        return Choice(Chosen.EXPECTED, positive=positive)
    if threshold == CHEAPEST:
        return Choice(Chosen.CHEAPEST, positive=positive)
    try:
        return Choice(Chosen.STATED, float(threshold), positive)
    except ValueError:
        raise click.BadParameter(
            f"{threshold!r} is neither a number nor {CHEAPEST!r}.", param_hint="--threshold"
        ) from None
