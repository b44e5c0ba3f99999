"""`offdiag evaluate`: numbers from a file, without any database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.evaluation_input import FileInput, file_options
from offdiag.cli.options import json_option
from offdiag.cli.output import busy, print_json, print_tables

if TYPE_CHECKING:
    from offdiag.advice.recommending import Advice
    from offdiag.sdk.evaluation import Evaluation

GOALS = ("misses", "false_alarms", "both", "ranking", "probabilities")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@file_options
@click.option("--advise", is_flag=True, help="Say which three numbers to report, and why.")
@click.option(
    "--goal",
    type=click.Choice(GOALS),
    default="both",
    show_default=True,
    help="With --advise: which errors matter, or what the scores are for.",
)
@click.option("--about", metavar="CLASS", help="With --advise: the class whose errors matter.")
@click.option(
    "--balance-known",
    is_flag=True,
    help="With --advise: the classes are as frequent in use as in this data.",
)
@json_option
def evaluate(
    *,
    file: Path,
    advise: bool,
    goal: str,
    about: str | None,
    balance_known: bool,
    as_json: bool,
    **stated: Any,
) -> None:
    """Compute every metric of predictions or of a confusion matrix in FILE.

    Predictions: CSV, Parquet, JSON lines or Arrow with one line for each case. Labels are
    text: NA, 007 and true stay what they are. Matrix: JSON with the members labels, matrix
    and orientation, or CSV with the labels in the first line and the first column.
    """
    with busy(f"Evaluating {file.name}"):
        evaluation = FileInput(file=file, **stated).evaluated()
        advice = _advice(evaluation, goal, about, balance_known) if advise else None
    if as_json:
        found = evaluation.to_dict()
        print_json(found if advice is None else found | {"advice": advice.to_dict()})
    else:
        _print(evaluation, advice)


def _advice(evaluation: Evaluation, goal: str, about: str | None, balance_known: bool) -> Advice:
    from offdiag.sdk.advise import advise

    return advise(evaluation, goal=goal, about=about, balance_known=balance_known)


def _print(evaluation: Evaluation, advice: Advice | None) -> None:
    from offdiag.cli.advice_table import advice_tables
    from offdiag.cli.tables import evaluation_tables

    per_class = {key: list(values.values()) for key, values in evaluation.per_class.items()}
    print_tables(*evaluation_tables(evaluation.matrix, evaluation.aggregate, per_class))
    if advice is not None:
        print_tables(*advice_tables(advice))
