"""Predictions or a matrix in a file, as several verbs take them: the options and the reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from offdiag.cli.options import parse_labels

if TYPE_CHECKING:
    from offdiag.sdk.evaluation import Evaluation

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--true", "true_column", default="y_true", show_default=True, metavar="COLUMN"),
    click.option("--pred", "pred_column", default="y_pred", show_default=True, metavar="COLUMN"),
    click.option("--matrix", "is_matrix", is_flag=True, help="FILE holds a confusion matrix."),
    click.option(
        "--orientation",
        type=click.Choice(["actual_rows", "actual_columns"]),
        help="What the rows of the matrix are; needed where the file does not say it.",
    ),
    click.option("--labels", metavar="A,B,…", help="Class names in their order."),
    click.option("--ordinal", is_flag=True, help="The order of --labels has a meaning."),
)


def file_options(command: Command) -> Command:
    """The options by which a file is read; they are the fields of `FileInput`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInput:
    """A file and what the command line says about it."""

    file: Path
    true_column: str
    pred_column: str
    is_matrix: bool
    orientation: str | None
    labels: str | None
    ordinal: bool
    of_sets: bool = False

    def evaluated(self) -> Evaluation:
        """Every metric of what the file holds. Raises `InvalidInput`."""
        if self.of_sets:
            return self._of_sets()
        is_matrix = self.is_matrix or self.file.suffix.lower() == ".json"
        return self._of_matrix() if is_matrix else self._of_predictions()

    def _of_predictions(self) -> Evaluation:
        from offdiag.inputs.files import read_columns
        from offdiag.sdk.evaluate import evaluate_labels

        labels = parse_labels(self.labels)
        names = [self.true_column, self.pred_column]
        columns = read_columns(self.file, names, empty_text=names if "" in (labels or ()) else ())
        return evaluate_labels(
            y_true=columns[self.true_column],
            y_pred=columns[self.pred_column],
            labels=labels,
            ordinal=self.ordinal,
        )

    def _of_sets(self) -> Evaluation:
        from offdiag.inputs.files import read_columns
        from offdiag.inputs.label_sets import sets_of_texts
        from offdiag.metrics.counted import CountedSets
        from offdiag.metrics.multilabel.tally import tally_sets
        from offdiag.sdk.evaluation import Evaluation
        from offdiag.sdk.multilabel import evaluate_multilabel

        names = [self.true_column, self.pred_column]
        columns = read_columns(self.file, names, empty_text=names)
        found = evaluate_multilabel(
            y_true=sets_of_texts(columns[self.true_column]),
            y_pred=sets_of_texts(columns[self.pred_column]),
            labels=parse_labels(self.labels),
        )
        return Evaluation.of_values(
            CountedSets(tally_sets(found.actual, found.predicted), found.label_set),
            aggregate=found.aggregate,
            per_class={key: list(values.values()) for key, values in found.per_label.items()},
        )

    def _of_matrix(self) -> Evaluation:
        from offdiag.cli.matrix_input import read_matrix_input
        from offdiag.sdk.evaluate import evaluate_matrix

        given = read_matrix_input(
            self.file, labels=parse_labels(self.labels), orientation=self.orientation
        )
        return evaluate_matrix(
            given.matrix,
            labels=given.labels,
            orientation=given.orientation,
            ordinal=self.ordinal,
        )
