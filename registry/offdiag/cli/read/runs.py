"""`offdiag runs …`: list, show, delete and restore runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from offdiag.cli.call import Call, evaluate_waiting, registry_options
from offdiag.cli.documents import (
    Server,
    ask,
    connected,
    ids_of_runs,
    known_datasets,
    note_unknown_name,
)
from offdiag.cli.options import help_text, limit_option
from offdiag.cli.output import fits_intervals, note
from offdiag.cli.read.baseline import baseline
from offdiag.cli.read.run_tables import (
    deleted_table,
    fairness_tables,
    history_table,
    run_dict,
    run_table,
    run_tables,
    slice_tables,
    worst_slices_table,
)
from offdiag.domain.runs import weighted_here_text, without_slices_text
from offdiag.domain.sentences import visible
from offdiag.errors import InvalidInput
from offdiag.filters.parsing import parse_filter, parse_order
from offdiag.filters.ranges import out_of_range
from offdiag.records.base import MOST_ON_A_PAGE, USUAL_ON_A_PAGE, Request
from offdiag.records.runs.evaluation import (
    EvaluationQuery,
    EvaluationResponse,
    HistoryResponse,
    RunWithResults,
    asked_history,
    asked_run_with_results,
    evaluation_answer,
    judged_flags,
)
from offdiag.records.runs.multilabel import ConfusedQuery, confused_request
from offdiag.records.runs.run import DeletedRuns, DeletedRunsQuery, deleted_document
from offdiag.records.runs.run_list import RunList, RunPage, RunsQuery, asked_runs
from offdiag.records.runs.slices import (
    MOST_GAPS,
    FairnessQuery,
    SlicesQuery,
    fairness_request,
    slices_request,
)
from offdiag.sdk.registry import RUN_ID, quoted
from offdiag.sdk.target import current_author

if TYPE_CHECKING:
    from rich.table import Table

    from offdiag.store.database import Database


@click.group()
def runs() -> None:
    """Show, compare, delete and restore runs."""


runs.add_command(baseline)


@help_text(
    "runs list --dataset holdout --sort -mcc",
    "runs list --filter \"metrics.recall[ill] > 0.8 and tags.team = 'x'\" --json",
    see=("runs show", "compare", "sql"),
)
@runs.command(name="list")
@click.option("--project", help="Only runs of this project; * matches any characters.")
@click.option("--dataset", help="Only runs on this dataset; * matches any characters.")
@click.option(
    "--filter",
    "filter_text",
    default="",
    metavar="CONDITION",
    help="Only runs that meet a condition, such as \"metrics.mcc > 0.5 and tags.team = 'x'\".",
)
@click.option(
    "--sort",
    default="-logged",
    show_default=True,
    metavar="[-]KEY",
    help="logged, name, worst (recall of the worst class), a metric such as mcc or f1_macro, or "
    "a field such as params.lr; - is descending.",
)
@limit_option("Maximum number of runs.", most=100_000)
@registry_options
def list_runs(
    *,
    project: str | None,
    dataset: str | None,
    filter_text: str,
    sort: str,
    limit: int,
    call: Call,
) -> None:
    """List runs with their primary metrics."""
    order = _order(sort)
    with connected(call.url) as registry:
        condition = _condition(registry, filter_text, project=project, dataset=dataset)
        query = RunsQuery(filter=condition, order_by=order)
        if isinstance(registry, Server):
            pages = list(registry.pages("/runs", RunPage, query=query, limit=limit))
            found = RunList(
                runs=[run for page in pages for run in page.runs],
                n_without_slices=pages[-1].n_without_slices,
                n_weighted=pages[-1].n_weighted,
            )
            is_cut = pages[-1].next_page_token is not None
        else:
            evaluate_waiting(registry)
            found, following = asked_runs(registry, query, limit=limit)
            is_cut = following is not None
    call.print(found, _listed(found, is_filtered=bool(filter_text or project or dataset)))
    if is_cut:
        note(f"More runs match; these are the first {limit:,}. --limit shows more.")
    for sentence in out_of_range(parse_filter(filter_text)):
        note(visible(sentence))
    if not found.runs:
        note_unknown_name(call.url, project=project, dataset=dataset)
    if found.n_without_slices:
        note(without_slices_text(found.n_without_slices))
    if found.n_weighted and not all(run.is_weighted for run in found.runs):
        note(weighted_here_text(found.n_weighted, are_last=True))


def _listed(found: RunList, *, is_filtered: bool) -> Iterator[Table | str]:
    if found.runs:
        yield run_table(found.runs, with_intervals=fits_intervals())
    else:
        yield "There are no such runs." if is_filtered else "There are no runs."


@help_text(
    "runs show r_4bcd6fgh8jkm",
    "runs show r_4bcd6fgh8jkm --slice country=DE",
    see=("runs history", "compare"),
)
@runs.command()
@click.argument("run_id", metavar="RUN", callback=ids_of_runs)
@click.option(
    "--slice",
    "slice_text",
    metavar="NAME=VALUE",
    help="Only the examples in this slice; join conditions with &.",
)
@registry_options
def show(run_id: str, slice_text: str | None, call: Call) -> None:
    """Show a run with its confusion matrix and all metrics."""
    if slice_text is not None:
        request = Request(
            f"/runs/{run_id}/evaluation",
            EvaluationResponse,
            lambda at: _stored_slice(at, run_id, slice_text),
            EvaluationQuery(slice=slice_text),
        )
        part = ask(call, request)
        shown, tables = part.plain(), slice_tables(part)
    else:
        path = f"/runs/{run_id}/results"
        results = Request(path, RunWithResults, lambda at: asked_run_with_results(at, run_id))
        run = ask(call, results, of_results=True)
        shown, tables = run_dict(run), run_tables(run)
    call.print(shown, tables)


def _stored_slice(database: Database, run_id: str, slice_text: str) -> EvaluationResponse:
    from offdiag.flags.assessment import assess
    from offdiag.services.evaluation.slices import evaluation_of_slice
    from offdiag.services.flags.rules import rules_in_force

    part = evaluation_of_slice(database, run_id, slice_text)
    judged = assess(part.counted, rules_in_force().thresholds)
    return evaluation_answer(
        part, judged_flags(judged), badge=judged.badge, may_hide=judged.may_hide
    )


@help_text(
    "runs fairness r_4bcd6fgh8jkm --by sex",
    see=("runs show", "gate"),
)
@runs.command()
@click.argument("run_id", metavar="RUN", callback=ids_of_runs)
@click.option("--by", required=True, metavar="COLUMN", help="Slice column with the groups.")
@click.option(
    "--class",
    "class_label",
    metavar="LABEL",
    help="Class to compare.  [default: the positive one of two, else all]",
)
@registry_options
def fairness(run_id: str, by: str, class_label: str | None, call: Call) -> None:
    """Compare groups of examples by the usual criteria of fairness."""
    found = ask(call, fairness_request(run_id, FairnessQuery(by=by, class_label=class_label)))
    call.print(
        found,
        fairness_tables(found)
        if found.classes
        else " ".join(
            (f"No group of {by} has {found.min_size} labelled examples.", *found.left_out())
        ),
    )


@help_text(
    "runs slices r_4bcd6fgh8jkm",
    "runs slices r_4bcd6fgh8jkm --metric recall --limit 5 --json",
    "runs slices r_4bcd6fgh8jkm --columns site,device,age",
    see=("runs show",),
)
@runs.command()
@click.argument("run_id", metavar="RUN", callback=ids_of_runs)
@click.option("--metric", metavar="METRIC", help="Only this metric, such as recall.")
@limit_option("Maximum number of slices.", default=20, most=MOST_GAPS)
@click.option(
    "--columns",
    metavar="A,B,C",
    help="Only these three columns, including combinations of all three.",
)
@registry_options
def slices(
    *, run_id: str, metric: str | None, limit: int, columns: str | None, call: Call
) -> None:
    """List the slices on which a run is worse than on the rest."""
    query = SlicesQuery(metric=metric, limit=limit, columns=columns)
    found = ask(call, slices_request(run_id, query), of_results=True)
    call.print(
        found,
        worst_slices_table(found)
        if found.n_tests
        else f"{run_id} has no slices with enough examples, or small groups are hidden.",
    )
    if found.n_gaps > limit:
        way_out = "--limit shows more" if limit < MOST_GAPS else "--metric lists those of one"
        note(f"{found.n_gaps:,} gaps match; these are the first {limit:,}. {way_out}.")


@help_text("runs history r_4bcd6fgh8jkm", see=("runs show", "truth impact"))
@runs.command()
@click.argument("run_id", metavar="RUN", callback=ids_of_runs)
@registry_options
def history(run_id: str, call: Call) -> None:
    """Show all evaluations of a run and what changed between them."""
    path = f"/runs/{run_id}/history"
    found = ask(call, Request(path, HistoryResponse, lambda at: asked_history(at, run_id)))
    call.print(
        found,
        history_table(found.evaluations)
        if found.evaluations
        else f"{run_id} is not evaluated yet.",
    )


@help_text("runs confused r_4bcd6fgh8jkm", see=("runs show", "compare"))
@runs.command()
@click.argument("run_id", metavar="RUN", callback=ids_of_runs)
@registry_options
def confused(run_id: str, call: Call) -> None:
    """Show which labels of the multi-label run RUN are confused, and when, with the evidence."""
    found = ask(call, confused_request(run_id, ConfusedQuery()))
    none = f"No label is confused more often than chance explains ({found.n:,} examples)."
    lines = [
        line
        for each in found.found
        for line in (visible(each.sentence), f"  {visible(each.evidence_text)}")
    ]
    call.print(found, lines or none)


@help_text("runs delete r_4bcd6fgh8jkm", see=("runs restore", "runs deleted", "gc"))
@runs.command()
@click.argument("run_id", metavar="RUN", callback=ids_of_runs)
@registry_options
def delete(run_id: str, call: Call) -> None:
    """Delete a run. `offdiag gc` deletes it permanently after a while."""
    with connected(call.url) as registry:
        if isinstance(registry, Server):
            registry.content(f"/runs/{run_id}", method="DELETE")
        else:
            from offdiag.services.retention.deletion import delete_run

            delete_run(registry, run_id, by=current_author())
    call.print(
        {"id": run_id, "deleted": True},
        f"{run_id} is deleted. Undo: offdiag runs restore {run_id}",
    )


@help_text(
    "runs deleted",
    "runs deleted --dataset holdout --json",
    see=("runs restore", "runs delete", "gc"),
)
@runs.command()
@click.option("--project", help="Only runs of this project.")
@click.option("--dataset", help="Only runs on this dataset.")
@limit_option("Maximum number of runs.", default=USUAL_ON_A_PAGE, most=MOST_ON_A_PAGE)
@registry_options
def deleted(*, project: str | None, dataset: str | None, limit: int, call: Call) -> None:
    """List deleted runs that can be restored, last deleted first."""
    query = DeletedRunsQuery(project=project, dataset=dataset, limit=limit)
    found = ask(
        call,
        Request("/deleted-runs", DeletedRuns, lambda at: deleted_document(at, query), query),
    )
    call.print(found, deleted_table(found) if found.runs else "There are no such runs.")
    if found.is_cut:
        way_out = "--limit shows more" if limit < MOST_ON_A_PAGE else "--dataset lists fewer"
        note(f"More deleted runs match; these are the first {limit:,}. {way_out}.")
    if not found.runs:
        note_unknown_name(call.url, project=project, dataset=dataset)


@help_text(
    "runs restore r_4bcd6fgh8jkm",
    see=("runs deleted", "runs delete"),
    arguments={"run_id": "Id of the run, such as r_4bcd6fgh8jkm."},
)
@runs.command()
@click.argument("run_id", metavar="RUN")
@registry_options
def restore(run_id: str, call: Call) -> None:
    """Restore a deleted run."""
    if not RUN_ID.fullmatch(run_id):
        raise InvalidInput(
            f"{run_id!r} is not the id of a run.",
            field="run",
            hint="A deleted run is found by its id, which `offdiag runs deleted` lists.",
        )
    with connected(call.url) as registry:
        if isinstance(registry, Server):
            registry.content(f"/runs/{run_id}/restore", method="POST")
        else:
            from offdiag.services.retention.deletion import restore_run

            restore_run(registry, run_id)
    call.print({"id": run_id, "deleted": False}, f"{run_id} is restored.")


def _condition(
    registry: Database | Server, filter_text: str, *, project: str | None, dataset: str | None
) -> str:
    """The filter as a search condition, including the requested projects and datasets."""
    parse_filter(filter_text, field="--filter")
    parts = [f"({filter_text})"] if filter_text.strip() else []
    known = known_datasets(registry) if "*" in f"{project}{dataset}" else []
    for field, wanted, names in (
        ("project", project, {each.project for each in known}),
        ("dataset", dataset, {each.name for each in known}),
    ):
        if wanted is not None:
            meant = sorted(filter(_pattern(wanted), names)) if "*" in wanted else [wanted]
            parts.append(f"attributes.{field} in ({', '.join(map(quoted, meant or [wanted]))})")
    return " and ".join(parts)


def _pattern(text: str) -> Callable[[str], bool]:
    """A test of whether names match a text, ignoring case; `*` stands for any characters."""
    pattern = re.compile(".*".join(map(re.escape, text.split("*"))), re.IGNORECASE | re.DOTALL)
    return lambda name: pattern.fullmatch(name) is not None


_ORDERS = {
    "logged": "attributes.created_at",
    "name": "attributes.name",
    "bal": "metrics.balanced_accuracy",
    "worst": "attributes.lowest_recall",
}
"""Special names of this option; any other is a metric, or a field with its namespace."""


def _order(text: str) -> list[str]:
    if text == "-logged":
        return []  # The default order of the search, along an index.
    name = text.removeprefix("-")
    field = _ORDERS.get(name) or (name if "." in name else f"metrics.{name}")
    order = [f"{field} {'desc' if text.startswith('-') else 'asc'}"]
    parse_order(order, field="--sort")
    return order
