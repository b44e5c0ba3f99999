"""`offdiag log`: store the predictions or the matrix in a file as a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.options import json_option, parse_entries, parse_labels, sets_option, url_option
from offdiag.cli.output import busy, print_json
from offdiag.cli.prediction_table import PredictionColumns, prediction_columns

if TYPE_CHECKING:
    from offdiag.sdk.run import Run


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="Name of the run.")
@click.option("--dataset", required=True, help="Data the model was tried on.")
@prediction_columns
@sets_option
@click.option("--matrix", "is_matrix", is_flag=True, help="FILE holds a confusion matrix.")
@click.option(
    "--orientation",
    type=click.Choice(["actual_rows", "actual_columns"]),
    help="What the rows of the matrix are; needed where the file does not say it.",
)
@click.option("--labels", metavar="A,B,…", help="Class names in their order.")
@click.option("--ordinal", is_flag=True, help="The order of --labels has a meaning.")
@click.option("--positive", "positive_label", metavar="CLASS", help="Class a single score is for.")
@click.option("--project", help="Project of the run.  [default: the configured one]")
@click.option("--model", help="Model that made the predictions.")
@click.option("--param", "params", multiple=True, metavar="KEY=VALUE", help="May be repeated.")
@click.option("--tag", "tags", multiple=True, metavar="KEY=VALUE", help="May be repeated.")
@click.option("--key", "client_key", help="Makes a repeated call find the run of the first one.")
@url_option
@json_option
def log(
    *,
    file: Path,
    is_matrix: bool,
    of_sets: bool,
    orientation: str | None,
    labels: str | None,
    ordinal: bool,
    as_json: bool,
    columns: PredictionColumns,
    positive_label: str | None,
    params: tuple[str, ...],
    tags: tuple[str, ...],
    **facts: Any,
) -> None:
    """Store the predictions or the confusion matrix in FILE as a run.

    FILE is read as `offdiag evaluate` reads it. The run is evaluated by the worker, which
    `offdiag serve` has in it.
    """
    from offdiag.cli.registry import answerable

    facts |= {
        "labels": parse_labels(labels),
        "ordinal": ordinal,
        "params": parse_entries(params, "param"),
        "tags": parse_entries(tags, "tag"),
    }
    with answerable(), busy(f"Logging {file.name}"):
        if is_matrix or file.suffix.lower() == ".json":
            run = _log_matrix(file, orientation, facts)
        else:
            run = _log_predictions(
                file,
                columns,
                facts | {"positive_label": positive_label},
                of_sets=of_sets,
            )
    if as_json:
        print_json({"id": run.id, "url": run.url})
    else:
        click.echo(f"{run.id} is logged; its page is {run.url}")


def _log_matrix(file: Path, orientation: str | None, facts: dict[str, Any]) -> Run:
    from offdiag.cli.matrix_input import read_matrix_input
    from offdiag.sdk.api import log_matrix

    given = read_matrix_input(file, labels=facts["labels"], orientation=orientation)
    stated = facts | {"labels": given.labels, "orientation": given.orientation}
    return log_matrix(given.matrix, **stated)


def _log_predictions(
    file: Path, columns: PredictionColumns, facts: dict[str, Any], *, of_sets: bool
) -> Run:
    from offdiag.inputs.label_sets import sets_of_texts
    from offdiag.sdk.api import log_run

    arrays = columns.read(file, labels=facts["labels"], of_sets=of_sets)
    if of_sets:
        arrays |= {
            name: sets_of_texts(arrays[name]) for name in ("y_true", "y_pred") if name in arrays
        }
    return log_run(**arrays, **facts)
