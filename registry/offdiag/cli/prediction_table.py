"""A table of predictions in a file: which options name its columns, and reading them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

_OPTIONS = (
    click.option("--true", "true_column", default="y_true", show_default=True, metavar="COLUMN"),
    click.option("--pred", "pred_column", default="y_pred", show_default=True, metavar="COLUMN"),
    click.option(
        "--no-pred", is_flag=True, help="Predict from --score: the highest, or one from 0.5 on."
    ),
    click.option("--no-true", is_flag=True, help="The dataset has its ground truth already."),
    click.option("--id", "id_column", metavar="COLUMN", help="Names of the cases."),
    click.option(
        "--score",
        "score_columns",
        multiple=True,
        metavar="COLUMN",
        help="Score of the positive class, or once for each class, called after it (cat, p_cat).",
    ),
)

_OF_CLASSES = ("y_true", "y_pred")


@dataclass(frozen=True, slots=True)
class PredictionColumns:
    """Columns by the argument of `log_run` that they are for, and those of the scores."""

    by_argument: dict[str, str]
    scores: tuple[str, ...]

    def read(
        self, file: Path, *, labels: Sequence[str] | None, of_sets: bool = False
    ) -> dict[str, Any]:
        """The arguments of `log_run`; an empty cell is a declared class "", or the empty set.

        Raises `InvalidInput` for a file without the columns, and for missing values.
        """
        from offdiag.inputs.files import read_columns, stacked_numbers
        from offdiag.inputs.scores import PickedColumns

        of_classes = [self.by_argument[name] for name in _OF_CLASSES if name in self.by_argument]
        found = read_columns(
            file,
            [*self.by_argument.values(), *self.scores],
            empty_text=of_classes if of_sets or "" in (labels or ()) else (),
        )
        arrays: dict[str, Any] = {
            argument: found[column] for argument, column in self.by_argument.items()
        }
        if self.scores:
            numbers = stacked_numbers({name: found[name] for name in self.scores})
            arrays["y_score"] = PickedColumns(numbers, self.scores)
        return arrays


def prediction_columns(command: Callable[..., None]) -> Callable[..., None]:
    """The options that name the columns, which the command takes as one argument, `columns`."""

    @wraps(command)
    def named(
        *,
        true_column: str,
        pred_column: str,
        no_pred: bool,
        no_true: bool,
        id_column: str | None,
        score_columns: tuple[str, ...],
        **others: Any,
    ) -> None:
        by_argument = {} if no_pred else {"y_pred": pred_column}
        by_argument |= {} if no_true else {"y_true": true_column}
        by_argument |= {} if id_column is None else {"sample_ids": id_column}
        command(columns=PredictionColumns(by_argument, score_columns), **others)

    for option in reversed(_OPTIONS):
        named = option(named)
    return named
