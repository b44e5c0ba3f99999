"""`offdiag sql`: SQL queries over runs, metrics, cells, predictions and flags."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from offdiag.cli.call import Call, database_options, opened
from offdiag.cli.documents import ids_of_runs
from offdiag.cli.options import help_text
from offdiag.cli.output import busy, note, print_json, print_tables
from offdiag.domain.number_text import count


@help_text(
    'sql "SELECT name, state FROM runs ORDER BY created_at DESC LIMIT 5"',
    "sql \"SELECT key, value FROM metrics WHERE class = 'ill'\" --run r_4bcd6fgh8jkm",
    'sql "SELECT * FROM predictions" --dataset holdout --output all.parquet',
    see=("runs list", "export"),
    arguments={"query": "One statement that reads, or - for stdin."},
)
@click.command(no_args_is_help=True)
@click.argument("query")
@click.option(
    "--run",
    "runs",
    metavar="RUN",
    callback=ids_of_runs,
    multiple=True,
    help="Only this run; repeatable.",
)
@click.option(
    "--dataset", "datasets", multiple=True, help="Only runs on this dataset; repeatable."
)
@click.option(
    "--project", "projects", multiple=True, help="Only runs in this project; repeatable."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="Maximum number of rows.  [default: 1000; with --output, all]",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write .csv, .json, .jsonl, .parquet or .arrow; it must not exist yet.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Cancel the query after this long.  [default: the setting sql.timeout_s]",
)
@database_options
def sql(
    *,
    query: str,
    runs: tuple[str, ...],
    datasets: tuple[str, ...],
    projects: tuple[str, ...],
    limit: int | None,
    output: Path | None,
    timeout: float | None,
    call: Call,
) -> None:
    """Run a read-only SQL QUERY over the registry.

    The relations are runs, metrics, cells, predictions and flags. DESCRIBE runs lists columns,
    and the page "SQL queries" of the documentation explains them. Only the relations and columns
    in the query are read. A QUERY of - is read from stdin.
    """
    from offdiag.cli.read.sql_rows import (
        ROWS_SHOWN,
        first_rows,
        result_dict,
        result_table,
        write_result,
        writer_for,
    )
    from offdiag.services.sql import run_query
    from offdiag.store.relations.columns import RunScope

    text = sys.stdin.read() if query == "-" else query
    writer = None if output is None else writer_for(output)
    scope = RunScope(runs, datasets, projects)
    settings = call.settings
    limit_s = settings.sql.timeout_s if timeout is None else timeout
    with (
        opened(settings) as database,
        run_query(database, text, scope, timeout_s=limit_s) as result,
    ):
        if output is not None and writer is not None:
            with busy(f"Writing {output}"):
                n_rows = write_result(output, writer, result, limit=limit)
            call.print(
                {"file": str(output), "rows": n_rows}, f"{output} has {count(n_rows, 'row')}."
            )
            return
        with busy("Querying"):
            found = first_rows(result, ROWS_SHOWN if limit is None else limit)
    if call.as_json:
        print_json(result_dict(found))
    else:
        print_tables(result_table(found))
        if found.is_cut:
            note(f"There are more rows than {len(found.rows):,}; see --limit.")
