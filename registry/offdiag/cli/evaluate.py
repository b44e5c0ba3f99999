"""`offdiag evaluate`: numbers from a file, without any database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.evaluation_input import FileInput, file_options
from offdiag.cli.options import json_option
from offdiag.cli.output import busy, print_json, print_tables

if TYPE_CHECKING:
    from offdiag.sdk.evaluation import Evaluation


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@file_options
@json_option
def evaluate(*, file: Path, as_json: bool, **stated: Any) -> None:
    """Compute every metric of predictions or of a confusion matrix in FILE.

    Predictions: CSV, Parquet, JSON lines or Arrow with one line for each case. Labels are
    text: NA, 007 and true stay what they are. Matrix: JSON with the members labels, matrix
    and orientation, or CSV with the labels in the first line and the first column.
    """
    with busy(f"Evaluating {file.name}"):
        evaluation = FileInput(file=file, **stated).evaluated()
    if as_json:
        print_json(evaluation.to_dict())
    else:
        _print(evaluation)


def _print(evaluation: Evaluation) -> None:
    from offdiag.cli.tables import evaluation_tables

    per_class = {key: list(values.values()) for key, values in evaluation.per_class.items()}
    print_tables(*evaluation_tables(evaluation.matrix, evaluation.aggregate, per_class))
