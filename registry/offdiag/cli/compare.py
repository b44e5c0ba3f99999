"""`offdiag compare`: differences between runs of one dataset, with intervals and p-values."""

from __future__ import annotations

import click

from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import busy, print_json, print_tables
from offdiag.cli.registry import opened, settings_for


@help_text(
    "compare r_4bcd6fgh8jkm r_5mnp7qrs9tvw",
    "compare r_4bcd6fgh8jkm r_5mnp7qrs9tvw r_6xyz8012abcd --slice country=DE --json",
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
@url_option
@json_option
def compare(
    *,
    run_ids: tuple[str, ...],
    baseline: str | None,
    slice_text: str | None,
    on_shared: bool,
    difference: float,
    url: str | None,
    as_json: bool,
) -> None:
    """Compare two or more runs of one dataset, example by example.

    The first run is A. Of two runs every difference is B minus A with its interval; of more
    runs the best by each metric is shown, and those without significant difference to it.
    """
    from offdiag.cli.compare_tables import comparison_tables, refusal_text
    from offdiag.records.comparison import comparison_document
    from offdiag.services.compare import compare_runs

    ids = list(run_ids)
    if baseline is not None:
        ids = [baseline, *(each for each in ids if each != baseline)]
    with busy(f"Comparing {len(ids)} runs"), opened(settings_for(url)) as database:
        found = compare_runs(
            database, ids, slice_text=slice_text, on_shared=on_shared, difference=difference
        )
    if as_json:
        print_json(comparison_document(found).plain())
    elif found.refusal is not None:
        click.echo(refusal_text(found.refusal))
    else:
        print_tables(*comparison_tables(found))
    if found.refusal is not None:
        click.get_current_context().exit(1)
