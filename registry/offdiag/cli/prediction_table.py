"""A table of predictions in a file: which options name its columns, and reading them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

_OPTIONS = (
    click.option("--true", "true_column", default="y_true", show_default=True, metavar="COLUMN"),
    click.option("--pred", "pred_column", default="y_pred", show_default=True, metavar="COLUMN"),
    click.option("--no-true", is_flag=True, help="The dataset has its ground truth already."),
    click.option("--id", "id_column", metavar="COLUMN", help="Names of the cases."),
    click.option(
        "--score",
        "score_columns",
        multiple=True,
        metavar="COLUMN",
        help="Score of the positive class, or once for each class in the order of --labels.",
    ),
)


@dataclass(frozen=True, slots=True)
class PredictionColumns:
    """Columns by the argument of `log_run` that they are for, and those of the scores."""

    by_argument: dict[str, str]
    scores: tuple[str, ...]

    def read(self, file: Path) -> dict[str, Any]:
        """The arguments of `log_run`. Raises `InvalidInput` for a file without the columns."""
        from offdiag.arrays.files import read_columns, stacked_numbers

        found = read_columns(file, [*self.by_argument.values(), *self.scores])
        arrays: dict[str, Any] = {
            argument: found[column] for argument, column in self.by_argument.items()
        }
        if self.scores:
            arrays["y_score"] = stacked_numbers({name: found[name] for name in self.scores})
        return arrays


def prediction_columns(command: Callable[..., None]) -> Callable[..., None]:
    """The options that name the columns, which the command takes as one argument, `columns`."""

    @wraps(command)
    def named(
        *,
        true_column: str,
        pred_column: str,
        no_true: bool,
        id_column: str | None,
        score_columns: tuple[str, ...],
        **others: Any,
    ) -> None:
        by_argument = {"y_pred": pred_column}
        by_argument |= {} if no_true else {"y_true": true_column}
        by_argument |= {} if id_column is None else {"sample_ids": id_column}
        command(columns=PredictionColumns(by_argument, score_columns), **others)

    for option in reversed(_OPTIONS):
        named = option(named)
    return named
