"""`offdiag compare`: differences between runs of one dataset, with intervals and p-values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from offdiag.cli.compare_tables import comparison_tables, examples_table, refusal_text
from offdiag.cli.documents import document
from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import busy, print_json, print_tables
from offdiag.comparison.pair import PairedOutcome
from offdiag.records.base import MOST_ON_A_PAGE, USUAL_ON_A_PAGE
from offdiag.records.comparison import (
    ComparedExamples,
    ComparedExamplesQuery,
    Comparison,
    ComparisonQuery,
    compared_examples,
    comparison_document,
)

if TYPE_CHECKING:
    from offdiag.store.database import Database

KINDS = ("only_a", "only_b", "both_right", "both_wrong")


@help_text(
    "compare r_4bcd6fgh8jkm r_5mnp7qrs9tvw",
    "compare r_4bcd6fgh8jkm r_5mnp7qrs9tvw r_6xyz8012abcd --slice country=DE --json",
    "compare r_4bcd6fgh8jkm r_5mnp7qrs9tvw --examples only_a --class mel",
    see=("runs list", "gate"),
    no="the runs cannot be compared",
)
@click.command()
@click.argument("run_ids", metavar="RUN RUN [RUN]...", nargs=-1, required=True)
@click.option("--baseline", metavar="RUN", help="Run to put first.  [default: the first one]")
@click.option(
    "--slice",
    "slice_text",
    metavar="NAME=VALUE",
    help="Only the examples in this slice; join conditions with &.",
)
@click.option(
    "--shared",
    "on_shared",
    is_flag=True,
    help="Compare on the examples that all runs share, where they differ.",
)
@click.option(
    "--difference",
    type=click.FloatRange(min=0, min_open=True, max=1),
    default=0.01,
    show_default=True,
    metavar="SHARE",
    help="Difference in accuracy that matters; the verdict says how many examples detect it.",
)
@click.option(
    "--examples",
    type=click.Choice(KINDS),
    help="List the examples of two runs that only one of them, both or none predict correctly.",
)
@click.option(
    "--class", "class_label", metavar="CLASS", help="With --examples: only of this actual class."
)
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_ON_A_PAGE),
    default=USUAL_ON_A_PAGE,
    show_default=True,
    help="With --examples: as many at most.",
)
@url_option
@json_option
def compare(
    *,
    run_ids: tuple[str, ...],
    baseline: str | None,
    slice_text: str | None,
    on_shared: bool,
    difference: float,
    examples: str | None,
    class_label: str | None,
    limit: int,
    url: str | None,
    as_json: bool,
) -> None:
    """Compare two or more runs of one dataset, example by example.

    The first run is A. Of two runs every difference is B minus A with its interval; of more
    runs the best by each metric is shown, and those without significant difference to it.
    """
    ids = list(run_ids)
    if baseline is not None:
        ids = [baseline, *(each for each in ids if each != baseline)]
    if examples is not None:
        query = ComparedExamplesQuery(
            runs=",".join(ids),
            which=PairedOutcome(examples),
            class_label=class_label,
            slice=slice_text,
            on_shared=on_shared,
            limit=limit,
        )
        _list_examples(url, ids, query, as_json=as_json)
        return
    if class_label is not None:
        raise click.UsageError("--class selects examples. Add --examples.")
    wanted = ComparisonQuery(
        runs=",".join(ids), slice=slice_text, on_shared=on_shared, difference=difference
    )
    with busy(f"Comparing {len(ids)} runs"):
        found = document(
            url,
            "/compare",
            Comparison,
            query=wanted,
            stored=lambda database: _stored(database, ids, wanted),
        )
    if as_json:
        print_json(found.plain())
    elif found.refusal is not None:
        click.echo(refusal_text(found.refusal))
    else:
        print_tables(*comparison_tables(found))
    if found.refusal is not None:
        click.get_current_context().exit(1)


def _stored(database: Database, ids: list[str], wanted: ComparisonQuery) -> Comparison:
    from offdiag.services.compare import compare_runs

    return comparison_document(
        compare_runs(
            database,
            ids,
            slice_text=wanted.slice,
            on_shared=wanted.on_shared,
            difference=wanted.difference,
        )
    )


def _list_examples(
    url: str | None, ids: list[str], query: ComparedExamplesQuery, *, as_json: bool
) -> None:
    found = document(
        url,
        "/compare/examples",
        ComparedExamples,
        query=query,
        stored=lambda database: _stored_examples(database, ids, query),
    )
    if as_json:
        print_json(found.plain())
    elif found.refusal is not None:
        click.echo(found.refusal)
    elif found.examples:
        print_tables(examples_table(found))
    else:
        click.echo("There are no such examples.")
    if found.refusal is not None:
        click.get_current_context().exit(1)


def _stored_examples(
    database: Database, ids: list[str], query: ComparedExamplesQuery
) -> ComparedExamples:
    from offdiag.services.examples.changed import changed_examples

    return compared_examples(
        changed_examples(
            database,
            ids,
            outcome=query.which,
            class_label=query.class_label,
            slice_text=query.slice,
            on_shared=query.on_shared,
            size=query.limit,
        )
    )
