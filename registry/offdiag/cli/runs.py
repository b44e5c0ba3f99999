"""`offdiag runs …`: list, show, delete and restore runs; the baseline of a dataset."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import click

from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import fits_intervals, print_json, print_tables
from offdiag.cli.registry import opened, settings_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from offdiag.store.database import Database
    from offdiag.store.run_filter import RunFilter
    from offdiag.store.run_order import RunOrder
    from offdiag.store.run_rows import RunEntry


@help_text(
    "runs baseline r_4bcd6fgh8jkm",
    "runs baseline --dataset holdout --clear",
    see=("compare", "gate"),
    arguments={"run_id": "Id of the run; the baseline of --dataset is shown without."},
)
@click.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option("--dataset", help="Show the baseline of this dataset.")
@click.option("--clear", is_flag=True, help="With --dataset: remove the baseline.")
@click.option("--project", help="Project of the dataset.  [default: the configured one]")
@url_option
@json_option
def baseline(
    *,
    run_id: str | None,
    dataset: str | None,
    clear: bool,
    project: str | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Set the baseline: compare all runs of its dataset with RUN, class by class.

    A run with significantly lower recall of a class gets a flag of rule F14. All runs of the
    dataset are re-evaluated.
    """
    if (run_id is None) == (dataset is None) or (clear and dataset is None):
        raise click.UsageError("Name a run, or a dataset with --dataset.")
    from offdiag.sdk import provenance
    from offdiag.services.datasets import Repinned, baseline_of, pin_baseline, unpin_baseline

    settings = settings_for(url)
    place = {"project": project or settings.project, "dataset": str(dataset)}
    with opened(settings) as database:
        if run_id is not None:
            now = pin_baseline(database, run_id, author=provenance.author())
        elif clear:
            now = unpin_baseline(database, **place)
        else:
            now = Repinned(baseline_of(database, **place), 0)
    if as_json:
        pinned = None if now.baseline is None else now.baseline.run_id
        print_json({"baseline": pinned, "runs_asked": now.n_runs})
    elif now.baseline is None:
        click.echo("There is no baseline.")
    else:
        again = f"; {now.n_runs} runs are re-evaluated" if now.n_runs else ""
        click.echo(f"The baseline is {now.baseline.run_name} ({now.baseline.run_id}){again}.")


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
@click.option("--project", help="Only runs of this project; * stands for any characters.")
@click.option("--dataset", help="Only runs on this dataset; * stands for any characters.")
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
    help="logged, name, acc, bal, mcc or worst (recall of the worst class); - is descending.",
)
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@url_option
@json_option
def list_runs(
    *,
    project: str | None,
    dataset: str | None,
    filter_text: str,
    sort: str,
    limit: int,
    url: str | None,
    as_json: bool,
) -> None:
    """List runs with their primary metrics."""
    from offdiag.cli.run_tables import run_table
    from offdiag.records.run import run_summary

    terms, order = _terms(project, dataset, filter_text), _order(sort)
    with opened(settings_for(url)) as database:
        entries = list(islice(_entries(database, terms, order), limit))
    if as_json:
        print_json({"runs": [run_summary(entry).plain() for entry in entries]})
    elif entries:
        print_tables(run_table(entries, with_intervals=fits_intervals()))
    else:
        click.echo("There are no such runs.")


@help_text(
    "runs show r_4bcd6fgh8jkm",
    "runs show r_4bcd6fgh8jkm --slice country=DE",
    see=("runs history", "compare"),
)
@runs.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--slice",
    "slice_text",
    metavar="NAME=VALUE",
    help="Only the examples in this slice; join conditions with &.",
)
@url_option
@json_option
def show(run_id: str, slice_text: str | None, url: str | None, as_json: bool) -> None:
    """Show a run with its confusion matrix and all metrics."""
    from offdiag.cli.run_tables import detail_dict, detail_tables, slice_dict, slice_tables
    from offdiag.services.evaluation.slices import evaluation_of_slice
    from offdiag.store.run_page import read_run

    with opened(settings_for(url)) as database:
        if slice_text is not None:
            part = evaluation_of_slice(database, run_id, slice_text)
            shown, tables = slice_dict(part), slice_tables(part)
        else:
            with database.read() as session:
                detail = read_run(session, run_id)
            shown, tables = detail_dict(detail), detail_tables(detail)
    if as_json:
        print_json(shown)
    else:
        print_tables(*tables)


@help_text("runs history r_4bcd6fgh8jkm", see=("runs show", "truth impact"))
@runs.command()
@click.argument("run_id", metavar="RUN")
@url_option
@json_option
def history(run_id: str, url: str | None, as_json: bool) -> None:
    """Show all evaluations of a run and what changed between them."""
    from offdiag.cli.run_tables import history_table
    from offdiag.records.evaluation import history_answer
    from offdiag.services.runs import run_history

    with opened(settings_for(url)) as database:
        entries = run_history(database, run_id)
    if as_json:
        print_json(history_answer(run_id, entries).plain())
    elif entries:
        print_tables(history_table(entries))
    else:
        click.echo(f"{run_id} is not evaluated yet.")


@help_text("runs delete r_4bcd6fgh8jkm", see=("runs restore", "gc"))
@runs.command()
@click.argument("run_id", metavar="RUN")
@url_option
@json_option
def delete(run_id: str, url: str | None, as_json: bool) -> None:
    """Delete a run. `offdiag gc` deletes it permanently after a while."""
    from offdiag.sdk import provenance
    from offdiag.services.retention.deletion import delete_run

    with opened(settings_for(url)) as database:
        delete_run(database, run_id, by=provenance.author())
    if as_json:
        print_json({"id": run_id, "deleted": True})
    else:
        click.echo(f"{run_id} is deleted. Undo: offdiag runs restore {run_id}")


@help_text("runs restore r_4bcd6fgh8jkm", see=("runs delete",))
@runs.command()
@click.argument("run_id", metavar="RUN")
@url_option
@json_option
def restore(run_id: str, url: str | None, as_json: bool) -> None:
    """Restore a deleted run."""
    from offdiag.services.retention.deletion import restore_run

    with opened(settings_for(url)) as database:
        restore_run(database, run_id)
    if as_json:
        print_json({"id": run_id, "deleted": False})
    else:
        click.echo(f"{run_id} is restored.")


def _terms(project: str | None, dataset: str | None, filter_text: str) -> RunFilter:
    from offdiag.filters.parsing import parse_filter
    from offdiag.store.run_filter import FilterField, FilterTerm

    wanted = {FilterField.PROJECT: project, FilterField.DATASET: dataset}
    named = (FilterTerm(field, text) for field, text in wanted.items() if text is not None)
    return (*named, parse_filter(filter_text, field="--filter"))


def _order(text: str) -> RunOrder:
    from offdiag.store.run_order import ORDER_NAMES, RunOrder

    name = text.removeprefix("-")
    if name not in ORDER_NAMES:
        known = ", ".join(ORDER_NAMES)
        raise click.BadParameter(f"{name!r} is not one of {known}.", param_hint="--sort")
    return RunOrder(name, descending=text.startswith("-"))


def _entries(database: Database, terms: RunFilter, order: RunOrder) -> Iterator[RunEntry]:
    """All runs in order, read page by page."""
    from offdiag.store.run_list import run_overview

    with database.read() as session:
        page = run_overview(session, terms=terms, order=order).page
    yield from page.entries
    while page.following is not None:
        with database.read() as session:
            after = page.following
            page = run_overview(session, terms=terms, order=order, cursor=after).page
        yield from page.entries
