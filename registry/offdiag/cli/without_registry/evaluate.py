"""`offdiag evaluate`: metrics of a file, without a registry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.file_input import FileInput, ScoreInput, file_options
from offdiag.cli.options import help_text, json_option, sets_option
from offdiag.cli.output import busy, print_json, print_tables
from offdiag.errors import InvalidInput

if TYPE_CHECKING:
    from offdiag.advice.recommendation import Advice
    from offdiag.sdk.evaluations.evaluation import Evaluation
    from offdiag.sdk.evaluations.scores import ScoreEvaluation

GOALS = ("misses", "false_alarms", "both", "ranking", "probabilities")


@help_text(
    "evaluate predictions.csv --true y --pred y_hat",
    "evaluate matrix.csv --matrix --orientation actual_rows --json",
    see=("log", "audit", "gate"),
    arguments={"file": "CSV, Parquet, JSON lines or Arrow."},
)
@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@file_options
@sets_option
@click.option(
    "--score",
    "score_columns",
    multiple=True,
    metavar="COLUMN",
    help="Evaluate scores instead of predictions: the column of the positive class, or one column "
    "per class, named after it, such as cat or p_cat.",
)
@click.option(
    "--positive",
    "positive_label",
    metavar="CLASS",
    help="With --score: the class that a single score is for.",
)
@click.option("--advise", is_flag=True, help="Recommend three metrics to report, with reasons.")
@click.option(
    "--goal",
    type=click.Choice(GOALS),
    default="both",
    show_default=True,
    help="With --advise: which errors matter, or what the scores are used for.",
)
@click.option("--about", metavar="CLASS", help="With --advise: the class whose errors matter.")
@click.option(
    "--balance-known",
    is_flag=True,
    help="With --advise: the classes are as frequent in production as in this data.",
)
@json_option
def evaluate(
    *,
    file: Path,
    score_columns: tuple[str, ...],
    positive_label: str | None,
    advise: bool,
    goal: str,
    about: str | None,
    balance_known: bool,
    as_json: bool,
    **stated: Any,
) -> None:
    """Compute every metric of predictions, of scores or of a confusion matrix in FILE.

    Predictions: CSV, Parquet, JSON lines or Arrow with one line for each example. Labels are text:
    NA, 007 and true are not converted. An empty CSV cell is a missing value and is refused, unless
    it is in quotes or "" is one of --labels. Matrix: JSON with the members labels, matrix and
    orientation, or CSV with the labels in the first line and column.
    """
    if score_columns:
        for option, is_given in (
            ("--advise", advise),
            ("--matrix", stated["is_matrix"]),
            ("--sets", stated["of_sets"]),
        ):
            if is_given:
                raise InvalidInput(
                    "it is for predicted classes, not scores.",
                    field=option,
                    hint=f"Leave out {option} or --score.",
                )
        _evaluate_scores(file, score_columns, positive_label, stated, as_json=as_json)
        return
    for option, is_given, of_what, needed in (
        ("--positive", positive_label is not None, "scores; all classes are shown", "--score"),
        ("--about", about is not None and not advise, "advice", "--advise"),
        ("--balance-known", balance_known and not advise, "advice", "--advise"),
    ):
        if is_given:
            raise InvalidInput(
                f"it is for {of_what}.", field=option, hint=f"Add {needed}, or leave out {option}."
            )
    with busy(f"Evaluating {file.name}"):
        evaluation = FileInput(file=file, **stated).evaluated()
        advice = _advice(evaluation, goal, about, balance_known) if advise else None
    if as_json:
        found = evaluation.to_dict()
        print_json(found if advice is None else found | {"advice": advice.to_dict()})
    else:
        _print(evaluation, advice)


def _evaluate_scores(
    file: Path,
    score_columns: tuple[str, ...],
    positive_label: str | None,
    stated: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    given = ScoreInput(
        file=file,
        true_column=stated["true_column"],
        score_columns=score_columns,
        labels=stated["labels"],
        positive_label=positive_label,
    )
    with busy(f"Evaluating {file.name}"):
        evaluation = given.evaluated()
    if as_json:
        print_json(evaluation.to_dict())
    else:
        _print_scores(evaluation)


def _print_scores(evaluation: ScoreEvaluation) -> None:
    from offdiag.cli.tables import aggregate_table, class_table

    per_class = {key: list(values.values()) for key, values in evaluation.per_class.items()}
    print_tables(
        class_table(evaluation.labels, per_class, keys=tuple(per_class)),
        aggregate_table(evaluation.aggregate),
    )


def _advice(evaluation: Evaluation, goal: str, about: str | None, balance_known: bool) -> Advice:
    from offdiag.sdk.advise import advise

    return advise(evaluation, goal=goal, about=about, balance_known=balance_known)


def _print(evaluation: Evaluation, advice: Advice | None) -> None:
    from offdiag.cli.tables import advice_tables, evaluation_tables

    per_class = {key: list(values.values()) for key, values in evaluation.per_class.items()}
    print_tables(*evaluation_tables(evaluation.counted, evaluation.aggregate, per_class))
    if advice is not None:
        print_tables(*advice_tables(advice))
