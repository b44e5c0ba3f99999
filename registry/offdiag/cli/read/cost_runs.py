"""`offdiag cost apply`, `rank` and `decide`: costs of runs, and decision rules by cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from offdiag.cli.call import Call, project_option, registry_options
from offdiag.cli.documents import ask, ids_of_runs
from offdiag.cli.options import help_text, with_options
from offdiag.cli.output import busy, note
from offdiag.cli.read.cost_tables import decision_tables, label_cost_table, ranking_tables
from offdiag.domain.number_text import read_number
from offdiag.domain.runs import not_ranked_text
from offdiag.domain.sentences import visible
from offdiag.metrics.costs.decisions import finite_threshold
from offdiag.metrics.costs.edits import require_understood
from offdiag.records.base import Request
from offdiag.records.decision import RuleRequest, TriedRule, tried_rule
from offdiag.records.runs.multilabel import (
    LabelCostsRequest,
    costs_of_text,
    costs_of_texts,
    label_cost_lines,
    label_costs_request,
)
from offdiag.records.what_if import CostsOfRuns, CostsRequest, asked_costs
from offdiag.sdk.target import current_author

if TYPE_CHECKING:
    from offdiag.store.database import Database


@help_text(
    "cost labels r_4bcd6fgh8jkm --cost sea=5:1 --others 1:1",
    see=("runs confused", "cost decide"),
)
@click.command()
@click.argument("run_id", metavar="RUN", callback=ids_of_runs)
@click.option(
    "--cost",
    "costs",
    metavar="LABEL=MISS:FALSE_ALARM",
    multiple=True,
    help="Costs of one label; may be given several times.",
)
@click.option(
    "--others",
    metavar="MISS:FALSE_ALARM",
    default="1:1",
    show_default=True,
    help="Costs of all other labels.",
)
@click.option("--baseline", metavar="RUN", callback=ids_of_runs, help="Run to compare with.")
@registry_options
def labels(
    *, run_id: str, costs: tuple[str, ...], others: str, baseline: str | None, call: Call
) -> None:
    """Show what the errors of the multi-label run RUN cost, and which thresholds cost least.

    The expected cost of a threshold is measured on examples that were not used to choose it.
    """
    asked = LabelCostsRequest(
        costs=costs_of_texts(costs), others=costs_of_text(others), baseline=baseline
    )
    found = ask(call, label_costs_request(run_id, asked))
    call.print(found, [label_cost_table(found), *map(visible, label_cost_lines(found))])


_share = click.option(
    "--share",
    "shares",
    metavar="CLASS:SHARE,...",
    default="",
    help="Class prevalence at deployment; the rest is divided as in the test set.",
)


@help_text(
    "cost decide r_4bcd6fgh8jkm --threshold cheapest --save-as cheapest",
    see=("cost apply", "compare"),
)
@click.command()
@click.argument("run_id", metavar="RUN", callback=ids_of_runs)
@click.option(
    "--matrix",
    "costs",
    metavar="NAME[@VERSION]",
    help="Cost matrix to apply.  [default: that of the dataset]",
)
@click.option(
    "--threshold",
    metavar="NUMBER|cheapest",
    help="Predict the positive class if the score is at least this number, or the threshold that "
    "is cheapest on these examples.  [default: the prediction with the lowest expected cost]",
)
@click.option(
    "--positive", metavar="CLASS", help="Positive class, if the dataset does not define one."
)
@_share
@click.option("--save-as", metavar="NAME", help="Store the predictions as a run of this name.")
@registry_options
def decide(
    *,
    run_id: str,
    costs: str | None,
    threshold: str | None,
    positive: str | None,
    shares: str,
    save_as: str | None,
    call: Call,
) -> None:
    """Apply a decision rule by cost to the scores of RUN, and show what changes.

    Without --threshold, each example gets the prediction with the lowest expected cost; the scores
    must then be probabilities. A saved run records RUN and the rule. Saving the same rule again
    returns the same run.
    """
    asked = RuleRequest(
        costs=costs,
        threshold=_threshold(threshold),
        positive=positive,
        shares=shares,
        save_as=save_as,
        author=current_author(),
    )
    with busy(f"Applying the rule to {run_id}"):
        path = f"/runs/{run_id}/rules"
        found = ask(
            call, Request(path, TriedRule, lambda at: _tried(at, run_id, asked), asked, "POST")
        )
    saved = () if found.saved is None else (f"Saved as {found.saved.id}.",)
    call.print(found, (*decision_tables(found), *saved))


def _tried(database: Database, run_id: str, asked: RuleRequest) -> TriedRule:
    from offdiag.services.decisions.rules import try_asked_rule

    return tried_rule(*try_asked_rule(database, run_id, **dict(asked)))


def _threshold(text: str | None) -> float | Literal["cheapest"] | None:
    if text is None:
        return None
    if text == "cheapest":
        return "cheapest"
    try:
        number = read_number(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is neither a number nor 'cheapest'.", param_hint="--threshold"
        ) from None
    return finite_threshold(number)


_question = with_options(
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
        help="Change costs first; ACTUAL>*:x2 doubles the cost of all errors on a class.",
    ),
    _share,
    click.option(
        "--vary",
        "lever",
        metavar="ACTUAL>PREDICTED",
        default="",
        help="Cost to vary for break-even ratios.  [default: the most expensive error]",
    ),
    click.option(
        "--slice",
        "part",
        metavar="SLICE",
        default="",
        help="Only the examples in this slice, such as site=z.",
    ),
)
"""The options that both commands share, in the order of the help."""


@help_text(
    "cost apply r_4bcd6fgh8jkm r_5mnp7qrs9tvw --matrix screening",
    "cost apply r_4bcd6fgh8jkm --set 'ill>well:50' --share ill:0.01 --json",
    see=("cost rank", "compare"),
)
@click.command()
@click.argument("run_ids", metavar="RUN...", callback=ids_of_runs, nargs=-1, required=True)
@_question
@registry_options
def apply(
    *,
    run_ids: tuple[str, ...],
    costs: str | None,
    edits: str,
    shares: str,
    lever: str,
    part: str,
    call: Call,
) -> None:
    """Compute what the errors of each RUN cost, next to the best constant prediction.

    Runs of one dataset are compared with the cheapest of them, paired by example.
    """
    asked = CostsRequest(
        runs=",".join(run_ids), costs=costs, edits=edits, shares=shares, lever=lever, slice=part
    )
    _compare(asked, call)


@help_text(
    "cost rank --dataset holdout",
    "cost rank --dataset holdout --share ill:0.01",
    see=("cost apply", "runs list"),
)
@click.command()
@click.option("--dataset", required=True, help="The dataset whose runs are ranked.")
@_question
@project_option("Project of the dataset.")
@registry_options
def rank(
    *,
    dataset: str,
    costs: str | None,
    edits: str,
    shares: str,
    lever: str,
    part: str,
    project: str,
    call: Call,
) -> None:
    """Rank the newest 26 runs of a dataset by cost, cheapest first."""
    asked = CostsRequest(
        dataset=dataset,
        project=project,
        costs=costs,
        edits=edits,
        shares=shares,
        lever=lever,
        slice=part,
    )
    _compare(asked, call)


def _compare(asked: CostsRequest, call: Call) -> None:
    with busy("Computing costs"):
        request = Request("/costs", CostsOfRuns, lambda at: asked_costs(at, asked), asked)
        found = ask(call, request, of_results=True)
    require_understood(found.ignored)
    for left_out in found.left_out:
        note(f"Run {visible(left_out['run'])} is left out: {visible(left_out['reason'])}.")
    if asked.dataset is not None and found.n_weighted:
        note(not_ranked_text(found.n_weighted))
    if found.is_cut:
        note(
            f"The dataset has older runs; these are the newest {len(found.runs)}. "
            "offdiag cost apply RUN … compares the runs that you name."
        )
    last = len(found.runs) + 1
    cheapest_first = sorted(found.runs, key=lambda run: run.rank or last)
    found = found.model_copy(update={"runs": cheapest_first})
    call.print(found, ranking_tables(found))
