"""Reading predictions, scores or a matrix from a file, and the options for its columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offdiag.cli.named_columns import read_named
from offdiag.cli.options import labels_option, orientation_option, parse_labels, with_options
from offdiag.errors import InvalidInput, LabelNote
from offdiag.inputs.files.checks import require_two_columns

if TYPE_CHECKING:
    from offdiag.domain.labels import LabelSet
    from offdiag.inputs.labels import Codes
    from offdiag.inputs.slice_columns import SliceColumns
    from offdiag.sdk.evaluations.evaluation import Evaluation
    from offdiag.sdk.evaluations.scores import ScoreEvaluation


@dataclass(frozen=True, slots=True)
class MatrixInput:
    """A matrix whose orientation was stated by the file or by the caller."""

    matrix: list[list[int]]
    labels: list[str] | None
    orientation: str


def read_matrix_input(
    file: Path, *, labels: list[str] | None, orientation: str | None
) -> MatrixInput:
    """Read a matrix; the options add what the file does not state and must not contradict it.

    Raises `InvalidInput`, also if the orientation is not stated.
    """
    from offdiag.inputs.files.matrix import read_matrix

    found = read_matrix(file, declared=labels)
    if found.labels is not None and labels is not None and found.labels != labels:
        raise InvalidInput(
            f"{file.name} names its classes {found.labels[:5]}, not {labels[:5]}.",
            field="labels",
            hint="Leave out --labels, or correct the file.",
        )
    stated = found.orientation
    if stated is None and orientation is None:
        raise InvalidInput(
            f"the orientation of {file.name} is not stated.",
            field="orientation",
            hint="Give --orientation actual_rows (scikit-learn) or actual_columns (R caret).",
        )
    if stated is not None and orientation not in (None, stated.value):
        raise InvalidInput(
            f"{file.name} says {stated.value!r}, the option says {orientation!r}.",
            field="orientation",
            hint="Correct one of them.",
        )
    return MatrixInput(found.matrix, found.labels or labels, stated or str(orientation))


_CLASS_OPTIONS = (
    click.option(
        "--true",
        "true_column",
        default="y_true",
        show_default=True,
        metavar="COLUMN",
        help="Column of the actual classes.",
    ),
    click.option(
        "--pred",
        "pred_column",
        default="y_pred",
        show_default=True,
        metavar="COLUMN",
        help="Column of the predicted classes.",
    ),
)
_SCORE_OPTION = click.option(
    "--score",
    "score_columns",
    multiple=True,
    metavar="COLUMN",
    help="Scores of the positive class, or one column for each class, such as cat or p_cat.",
)
no_pred_option = click.option(
    "--no-pred",
    is_flag=True,
    help="FILE has no predictions: predict the class with the highest --score, or the positive "
    "class from 0.5 on.",
)
"""`--no-pred`: scores decide the predictions."""

score_options = with_options(
    _SCORE_OPTION,
    click.option(
        "--positive", "positive_label", metavar="CLASS", help="Class that a single score is for."
    ),
)
"""Options for scores next to the predictions in a file."""

file_options = with_options(
    *_CLASS_OPTIONS,
    click.option("--matrix", "is_matrix", is_flag=True, help="FILE contains a confusion matrix."),
    orientation_option,
    labels_option,
    click.option(
        "--ordinal", is_flag=True, help="The classes are ordinal, in the order of --labels."
    ),
)
"""Options for reading a file; they are the fields of `FileInput`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInput:
    """A file and the options about it; `predicted` replaces its column of predicted classes."""

    file: Path
    true_column: str
    pred_column: str
    is_matrix: bool
    orientation: str | None
    labels: str | None
    ordinal: bool
    of_sets: bool = False
    predicted: object = None

    def evaluated(self) -> Evaluation:
        """Every metric of the file. Raises `InvalidInput`."""
        from offdiag.inputs.files.tables import naming_lines

        if self.has_matrix and not self.of_sets:
            return self._of_matrix()
        with naming_lines(self.file):
            return self._of_sets() if self.of_sets else self._of_predictions()

    @property
    def class_columns(self) -> list[str]:
        """The columns of the actual and the predicted classes. Raises `InvalidInput`."""
        if self.predicted is not None:
            return [self.true_column]
        require_two_columns(self.true_column, self.pred_column, field="--pred")
        return [self.true_column, self.pred_column]

    @property
    def has_matrix(self) -> bool:
        """Whether the file contains counts rather than predictions."""
        return self.is_matrix or self.file.suffix.lower() == ".json"

    def by_columns(
        self, names: Sequence[str], labels: LabelSet
    ) -> tuple[Codes, Codes, SliceColumns]:
        """Codes of the actual and predicted classes, and slice columns. Raises `InvalidInput`."""
        from offdiag.inputs.files.tables import naming_lines
        from offdiag.inputs.labels import encode_pair
        from offdiag.inputs.slice_columns import read_slices

        columns = read_named(self.file, [*self.class_columns, *names])
        with naming_lines(self.file):
            pair = encode_pair(
                y_true=columns[self.true_column], y_pred=self._predicted(columns), labels=labels
            )
        slices = {name: columns[name] for name in names}
        return pair.actual, pair.predicted, read_slices(slices, n_samples=len(pair.actual))

    def _predicted(self, columns: Mapping[str, object]) -> object:
        return columns[self.pred_column] if self.predicted is None else self.predicted

    def _of_predictions(self) -> Evaluation:
        from offdiag.sdk.evaluations.evaluate import evaluate_labels

        labels = parse_labels(self.labels)
        names = self.class_columns
        columns = read_named(self.file, names, empty_text=names if "" in (labels or ()) else ())
        return evaluate_labels(
            y_true=columns[self.true_column],
            y_pred=self._predicted(columns),
            labels=labels,
            ordinal=self.ordinal,
        )

    def _of_sets(self) -> Evaluation:
        from offdiag.inputs.label_sets import sets_of_texts
        from offdiag.metrics.counted import CountedSets
        from offdiag.metrics.multilabel.tally import tally_sets
        from offdiag.sdk.evaluations.evaluation import Evaluation
        from offdiag.sdk.evaluations.multilabel import evaluate_multilabel

        names = self.class_columns
        columns = read_named(self.file, names, empty_text=names)
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
        from offdiag.sdk.evaluations.evaluate import evaluate_matrix

        given = read_matrix_input(
            self.file, labels=parse_labels(self.labels), orientation=self.orientation
        )
        return evaluate_matrix(
            given.matrix,
            labels=given.labels,
            orientation=given.orientation,
            ordinal=self.ordinal,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreInput:
    """A file, its column of actual classes, and the columns of their scores.

    `decides` says whether the scores decide the predictions.
    """

    file: Path
    true_column: str
    score_columns: tuple[str, ...]
    labels: str | None
    positive_label: str | None
    decides: bool = False

    def evaluated(self) -> ScoreEvaluation:
        """Every metric of the scores with its interval. Raises `InvalidInput`."""
        from offdiag.sdk.evaluations.intervals import score_intervals

        return score_intervals(self.scored(parse_labels(self.labels)))

    def predicted(self) -> object:
        """The classes that the scores decide, as for a run without predictions."""
        from offdiag.inputs.scores import Scores, predicted_from, single_precision

        with warnings.catch_warnings():
            # The evaluation of the scores issues these notes.
            warnings.simplefilter("ignore", LabelNote)
            found = self.scored(parse_labels(self.labels))
        scores = Scores(single_precision(found.forecasts.scores))
        predicted, _ = predicted_from(scores, found.label_set, found.positive_label)
        return predicted

    def scored(self, labels: LabelSet | list[str] | None) -> ScoreEvaluation:
        """Every metric of the scores of these classes. Raises `InvalidInput`."""
        from offdiag.inputs.files.tables import naming_lines

        with naming_lines(self.file):
            return self._scored(labels)

    def _scored(self, labels: LabelSet | list[str] | None) -> ScoreEvaluation:
        from offdiag.inputs.files.tables import require_decimals, stacked_numbers
        from offdiag.inputs.score_columns import PickedColumns
        from offdiag.sdk.evaluations.scores import evaluate_scores

        found = read_named(
            self.file,
            [self.true_column, *self.score_columns],
            empty_text=[self.true_column] if "" in (parse_labels(self.labels) or ()) else (),
        )
        scores = {name: found[name] for name in self.score_columns}
        require_decimals(self.file, scores)
        numbers = stacked_numbers(scores)
        return evaluate_scores(
            y_true=found[self.true_column],
            y_score=PickedColumns(numbers, self.score_columns),
            labels=labels,
            positive_label=self.positive_label,
        )


_COLUMN_OPTIONS = (
    *_CLASS_OPTIONS,
    no_pred_option,
    click.option(
        "--no-true",
        is_flag=True,
        help="FILE has no actual classes: the dataset already has its ground truth.",
    ),
    click.option("--id", "id_column", metavar="COLUMN", help="Column of sample ids."),
    click.option(
        "--weight", "weight_column", metavar="COLUMN", help="Column of sample weights, 0 or more."
    ),
    _SCORE_OPTION,
)

_OF_CLASSES = ("y_true", "y_pred")
_WEIGHT = "sample_weight"


@dataclass(frozen=True, slots=True)
class PredictionColumns:
    """Columns by argument of `log_run`, and the score columns."""

    by_argument: dict[str, str]
    scores: tuple[str, ...]

    def read(
        self, file: Path, *, labels: Sequence[str] | None, of_sets: bool = False
    ) -> dict[str, Any]:
        """The arguments of `log_run`; an empty cell is the class "" if declared, or the empty set.

        Raises `InvalidInput` for a file without the columns, and for missing values.
        """
        from offdiag.inputs.files.tables import require_decimals, stacked_numbers
        from offdiag.inputs.score_columns import PickedColumns

        of_classes = [self.by_argument[name] for name in _OF_CLASSES if name in self.by_argument]
        found = read_named(
            file,
            [*self.by_argument.values(), *self.scores],
            empty_text=of_classes if of_sets or "" in (labels or ()) else (),
        )
        arrays: dict[str, Any] = {
            argument: found[column] for argument, column in self.by_argument.items()
        }
        weights = [self.by_argument[_WEIGHT]] if _WEIGHT in arrays else []
        require_decimals(file, {name: found[name] for name in (*weights, *self.scores)})
        if weights:
            arrays[_WEIGHT] = stacked_numbers({name: found[name] for name in weights})
        if self.scores:
            numbers = stacked_numbers({name: found[name] for name in self.scores})
            arrays["y_score"] = PickedColumns(numbers, self.scores)
        return arrays

    def unread(self, file: Path) -> list[str]:
        """The columns of the file that are not used."""
        from offdiag.inputs.files.tables import column_names

        read = {*self.by_argument.values(), *self.scores}
        return [name for name in column_names(file) if name not in read]


def prediction_columns(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that name columns; the command gets them as one argument, `columns`."""

    @wraps(command)
    def named(
        *,
        true_column: str,
        pred_column: str,
        no_pred: bool,
        no_true: bool,
        id_column: str | None,
        weight_column: str | None,
        score_columns: tuple[str, ...],
        **others: Any,
    ) -> None:
        if not (no_pred or no_true):
            require_two_columns(true_column, pred_column, field="--pred")
        by_argument = {} if no_pred else {"y_pred": pred_column}
        by_argument |= {} if no_true else {"y_true": true_column}
        by_argument |= {} if id_column is None else {"sample_ids": id_column}
        by_argument |= {} if weight_column is None else {_WEIGHT: weight_column}
        command(columns=PredictionColumns(by_argument, score_columns), **others)

    return with_options(*_COLUMN_OPTIONS)(named)
