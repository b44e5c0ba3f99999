"""`offdiag evaluate`: numbers from a file, without any database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.options import json_option, parse_labels
from offdiag.cli.output import busy, print_json, print_tables

if TYPE_CHECKING:
    from offdiag.sdk.evaluation import Evaluation


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--true", "true_column", default="y_true", show_default=True, metavar="COLUMN")
@click.option("--pred", "pred_column", default="y_pred", show_default=True, metavar="COLUMN")
@click.option("--matrix", "is_matrix", is_flag=True, help="FILE holds a confusion matrix.")
@click.option(
    "--orientation",
    type=click.Choice(["actual_rows", "actual_columns"]),
    help="What the rows of the matrix are; needed where the file does not say it.",
)
@click.option("--labels", metavar="A,B,…", help="Class names in their order.")
@click.option("--ordinal", is_flag=True, help="The order of --labels has a meaning.")
@json_option
def evaluate(
    *,
    file: Path,
    true_column: str,
    pred_column: str,
    is_matrix: bool,
    orientation: str | None,
    labels: str | None,
    ordinal: bool,
    as_json: bool,
) -> None:
    """Compute every metric of predictions or of a confusion matrix in FILE.

    Predictions: CSV, Parquet, JSON lines or Arrow with one line for each case. Labels are
    text: NA, 007 and true stay what they are. Matrix: JSON with the members labels, matrix
    and orientation, or CSV with the labels in the first line and the first column.
    """
    names = parse_labels(labels)
    with busy(f"Evaluating {file.name}"):
        evaluation = (
            _of_matrix(file, names, orientation, ordinal)
            if is_matrix or file.suffix.lower() == ".json"
            else _of_predictions(file, true_column, pred_column, names, ordinal)
        )
    if as_json:
        print_json(evaluation.to_dict())
    else:
        _print(evaluation)


def _of_predictions(
    file: Path, true_column: str, pred_column: str, labels: list[str] | None, ordinal: bool
) -> Evaluation:
    from offdiag.arrays.files import read_columns
    from offdiag.sdk.evaluate import evaluate_labels

    columns = read_columns(file, [true_column, pred_column])
    return evaluate_labels(
        y_true=columns[true_column], y_pred=columns[pred_column], labels=labels, ordinal=ordinal
    )


def _of_matrix(
    file: Path, labels: list[str] | None, orientation: str | None, ordinal: bool
) -> Evaluation:
    from offdiag.cli.matrix_input import read_matrix_input
    from offdiag.sdk.evaluate import evaluate_matrix

    given = read_matrix_input(file, labels=labels, orientation=orientation)
    return evaluate_matrix(
        given.matrix, labels=given.labels, orientation=given.orientation, ordinal=ordinal
    )


def _print(evaluation: Evaluation) -> None:
    from offdiag.cli.tables import evaluation_tables

    per_class = {key: list(values.values()) for key, values in evaluation.per_class.items()}
    print_tables(*evaluation_tables(evaluation.matrix, evaluation.aggregate, per_class))
