"""`offdiag recount`: count runs again after labels were corrected in their tables."""

from __future__ import annotations

from pathlib import Path

import click

from offdiag.cli.call import Call, answerable, registry_options
from offdiag.cli.documents import ids_of_runs
from offdiag.cli.options import help_text
from offdiag.cli.output import note
from offdiag.cli.tables import filled_table
from offdiag.domain.number_text import number
from offdiag.domain.sentences import visible
from offdiag.domain.values import MetricValue
from offdiag.extras import require_extra
from offdiag.sdk.run import Run


@help_text(
    "recount r_4bcd6fgh8jkm --database warehouse.duckdb",
    see=("truth revise", "compare"),
    arguments={"run_id": "Id or name of a run that was logged with log_frame(query=)."},
)
@click.command()
@click.argument("run_id", metavar="RUN", callback=ids_of_runs)
@click.option(
    "--database",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    required=True,
    help="DuckDB file with the tables of the query.",
)
@registry_options
def recount(run_id: str, file: Path, call: Call) -> None:
    """Repeat the counting query of RUN with corrected labels.

    The query runs on this machine, with read-only access to FILE and nothing else. The counts
    become a new run of the same name. RUN is kept and gets the new id as its tag recounted_as.
    Runs that were counted together are recounted together. For other engines, use offdiag.recount
    in Python.
    """
    require_extra("sql")
    from offdiag.sdk.frames.counted_query import query_of
    from offdiag.sdk.frames.recount import recounted, rows_of_query

    registry = call.registry
    with answerable():
        query = query_of(run_id, Run(registry, run_id).params)
        if not call.as_json:
            note(f"Counting on {file}: {visible(query.text)}")
        with rows_of_query(query.text, file) as frame:
            pairs = recounted(registry, run_id, frame)
        made = [
            (pair.new.name, pair.old.id, pair.new.id, _accuracy(pair.old), _accuracy(pair.new))
            for pair in pairs
        ]
    columns = ("name", "run before", "new run", "accuracy before", "accuracy")
    rows = [(*about, _shown(before), _shown(now)) for *about, before, now in made]
    shown = {
        "runs": [
            {
                "name": name,
                "old": old,
                "new": new,
                "overall_accuracy_before": before.value,
                "overall_accuracy": now.value,
            }
            for name, old, new, before, now in made
        ]
    }
    call.print(shown, filled_table(columns, rows, right=columns[3:]))


def _accuracy(run: Run) -> MetricValue:
    return run.evaluation().aggregate["overall_accuracy"]


def _shown(value: MetricValue) -> str:
    return value.undefined_text if value.value is None else number(value.value, decimals=4)
