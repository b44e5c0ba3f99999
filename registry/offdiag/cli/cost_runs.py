"""`offdiag cost apply`, `rank` and `decide`: costs of runs, and decision rules by cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import busy, note, print_json, print_tables
from offdiag.cli.registry import opened, settings_for

if TYPE_CHECKING:
    from offdiag.services.decisions.rules import Choice
    from offdiag.services.what_if.costs import WhatIf


CHEAPEST = "cheapest"


@help_text(
    "cost decide r_4bcd6fgh8jkm --threshold cheapest --save-as cheapest",
    see=("cost apply", "compare"),
)
@click.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--matrix",
    "costs",
    metavar="NAME[@VERSION]",
    help="Cost matrix to apply.  [default: that of the dataset]",
)
@click.option(
    "--threshold",
    metavar="NUMBER|cheapest",
    help="Predict the positive class when the score is at least this, or the cheapest on these "
    "examples.  [default: the prediction with the lowest expected cost]",
)
@click.option("--positive", metavar="CLASS", help="Positive class, where the dataset names none.")
@click.option(
    "--share",
    "shares",
    metavar="CLASS:SHARE,...",
    default="",
    help="Class prevalence at deployment; the rest is divided as in the test set.",
)
@click.option("--save-as", metavar="NAME", help="Store the predictions as a run of this name.")
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
    """Apply a decision rule by cost to the scores of RUN, and show what changes.

    Without --threshold each example gets the prediction with the lowest expected cost, for
    which the scores have to be probabilities. A saved run stores RUN and the rule; the same
    rule gives the same run.
    """
    choice = _choice(threshold, positive)
    from offdiag.cli.cost_tables import decision_tables
    from offdiag.records.decision import tried_rule
    from offdiag.sdk import provenance
    from offdiag.services.decisions.rules import (
        default_costs,
        requested_cost_basis,
        save_choice,
        try_rule,
    )
    from offdiag.services.what_if.scenario import Question

    with busy(f"Applying the rule to {run_id}"), opened(settings_for(url)) as database:
        _, reference = default_costs(database, run_id, costs)
        cost_basis = requested_cost_basis(
            database, run_id, Question(costs=reference, shares=shares)
        )
        trial = try_rule(database, run_id, cost_basis, choice)
        saved = None
        if save_as is not None:
            saved = save_choice(
                database, run_id, cost_basis, choice, name=save_as, author=provenance.author()
            )
    if as_json:
        print_json(tried_rule(trial, saved).plain())
        return
    print_tables(*decision_tables(trial))
    if saved is not None:
        click.echo(f"Saved as {saved.id}.")


def _choice(threshold: str | None, positive: str | None) -> Choice:
    from offdiag.services.decisions.rules import Choice, Chosen

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


Command = TypeVar("Command", bound=Callable[..., Any])


def _question(command: Command) -> Command:
    """The options that both commands share, in this order in the help."""
    for option in reversed(
        (
            click.option(
                "--matrix",
                "costs",
                metavar="NAME[@VERSION]",
                help="Cost matrix.  [default: that of the dataset, else 1 for every error]",
            ),
            click.option(
                "--set",
                "edits",
                metavar="ACTUAL>PREDICTED:COST,...",
                default="",
                help="Change costs first; ACTUAL>*:x2 doubles all errors on a class.",
            ),
            click.option(
                "--share",
                "shares",
                metavar="CLASS:SHARE,...",
                default="",
                help="Class prevalence at deployment; the rest is divided as in the test set.",
            ),
            click.option(
                "--vary",
                "lever",
                metavar="ACTUAL>PREDICTED",
                default="",
                help="Cost to vary for break-even ratios.  [default: the most expensive error]",
            ),
        )
    ):
        command = option(command)
    return command


@help_text(
    "cost apply r_4bcd6fgh8jkm r_5mnp7qrs9tvw --matrix screening",
    "cost apply r_4bcd6fgh8jkm --set 'ill>well:50' --share ill:0.01 --json",
    see=("cost rank", "compare"),
)
@click.command()
@click.argument("run_ids", metavar="RUN...", nargs=-1, required=True)
@_question
@url_option
@json_option
def apply(
    *,
    run_ids: tuple[str, ...],
    costs: str | None,
    edits: str,
    shares: str,
    lever: str,
    url: str | None,
    as_json: bool,
) -> None:
    """Compute what the errors of each RUN cost, next to the best constant prediction.

    Runs of one dataset are compared with the cheapest of them, paired by example.
    """
    question = {"costs": costs, "edits": edits, "shares": shares, "lever": lever}
    _answer(run_ids, question, url=url, as_json=as_json)


@help_text(
    "cost rank --dataset holdout",
    "cost rank --dataset holdout --share ill:0.01",
    see=("cost apply", "runs list"),
)
@click.command()
@click.option("--dataset", required=True, help="The dataset whose runs are ranked.")
@_question
@click.option("--project", help="Project of the dataset.  [default: the configured one]")
@url_option
@json_option
def rank(
    *,
    dataset: str,
    costs: str | None,
    edits: str,
    shares: str,
    lever: str,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Rank the newest 26 runs of a dataset by cost, cheapest first."""
    from offdiag.comparison.texts import MOST_RUNS
    from offdiag.errors import NotFound
    from offdiag.services.what_if.scenario import newest_run_ids

    settings = settings_for(url)
    with opened(settings) as database:
        run_ids = newest_run_ids(
            database, project=project or settings.project, dataset=dataset, most=MOST_RUNS
        )
    if not run_ids:
        raise NotFound(
            f"dataset {dataset!r} has no evaluated runs.",
            field="dataset",
            hint="Log one, or wait for its evaluation.",
        )
    question = {"costs": costs, "edits": edits, "shares": shares, "lever": lever}
    _answer(run_ids, question, url=url, as_json=as_json)


def _answer(
    run_ids: Sequence[str], question: dict[str, Any], *, url: str | None, as_json: bool
) -> None:
    from offdiag.cli.cost_tables import cheapest_first, ranking_tables
    from offdiag.comparison.texts import MOST_RUNS
    from offdiag.records.cost import costs_of_runs
    from offdiag.services.what_if.costs import ask
    from offdiag.services.what_if.scenario import Question

    with busy(f"Computing costs of {len(run_ids)} runs"), opened(settings_for(url)) as database:
        found = ask(database, run_ids, Question(**question), most=MOST_RUNS)
    _tell_what_is_ignored(found)
    if as_json:
        answer = costs_of_runs(found)
        runs = [answer.runs[place] for place in cheapest_first(found)]
        print_json(answer.model_copy(update={"runs": runs}).plain())
    else:
        print_tables(*ranking_tables(found))


def _tell_what_is_ignored(found: WhatIf) -> None:
    """Tell the user which runs and changes are ignored."""
    from offdiag.cli.text import printable

    for run_id, why in found.frame.left_out:
        note(f"Run {printable(run_id)} is left out: {printable(why)}.")
    for problem in found.scenario.problems:
        note(printable(problem))
