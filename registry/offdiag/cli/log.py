"""`offdiag log`: store the predictions or the matrix in a file as a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.options import json_option, parse_entries, parse_labels, sets_option, url_option
from offdiag.cli.output import busy, print_json

if TYPE_CHECKING:
    from offdiag.sdk.run import Run


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="Name of the run.")
@click.option("--dataset", required=True, help="Data the model was tried on.")
@click.option("--true", "true_column", default="y_true", show_default=True, metavar="COLUMN")
@click.option("--pred", "pred_column", default="y_pred", show_default=True, metavar="COLUMN")
@click.option("--no-true", is_flag=True, help="The dataset has its ground truth already.")
@click.option("--id", "id_column", metavar="COLUMN", help="Names of the cases.")
@click.option(
    "--score",
    "score_columns",
    multiple=True,
    metavar="COLUMN",
    help="Score of the positive class, or once for each class in the order of --labels.",
)
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
    true_column: str,
    pred_column: str,
    no_true: bool,
    id_column: str | None,
    score_columns: tuple[str, ...],
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
            columns = {"y_pred": pred_column}
            columns |= {} if no_true else {"y_true": true_column}
            columns |= {} if id_column is None else {"sample_ids": id_column}
            run = _log_predictions(
                file,
                columns,
                score_columns,
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
    file: Path,
    columns: dict[str, str],
    score_columns: tuple[str, ...],
    facts: dict[str, Any],
    *,
    of_sets: bool,
) -> Run:
    from offdiag.arrays.files import read_columns, stacked_numbers
    from offdiag.arrays.set_texts import sets_of_texts
    from offdiag.sdk.api import log_run

    found = read_columns(file, [*columns.values(), *score_columns])
    arrays: dict[str, Any] = {name: found[column] for name, column in columns.items()}
    if of_sets:
        arrays |= {
            name: sets_of_texts(arrays[name]) for name in ("y_true", "y_pred") if name in arrays
        }
    if score_columns:
        arrays["y_score"] = stacked_numbers({name: found[name] for name in score_columns})
    return log_run(**arrays, **facts)
