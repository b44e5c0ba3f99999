"""Reading scores of classes: as float32 columns in label order, and as given.

Single precision is stored; scores evaluated in memory are used as given, so that results agree
with other programs to the last digit. Predictions can be made from scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.runs import ARG_MAX, THRESHOLD, at_threshold
from offdiag.errors import InvalidInput
from offdiag.inputs.columns import readable
from offdiag.inputs.labels import code_dtype
from offdiag.inputs.score_columns import in_label_order, require_column_of

if TYPE_CHECKING:
    import pyarrow as pa

ALMOST_ZERO = float(np.finfo(np.float32).smallest_subnormal)
ALMOST_ONE = float(np.nextafter(np.float32(1), np.float32(0)))
"""A probability below 1 that single precision would round to 1 is rounded to this value."""
_CLASS_AXIS = 1


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of n samples.

    `values` is float32 of shape (n, 1), the score of the positive class of binary data, or
    (n, K), one column for each class in label order.
    """

    values: NDArray[np.float32]

    @property
    def n_columns(self) -> int:
        return int(self.values.shape[1])


def read_scores(
    y_score: object,
    *,
    n_samples: int | None,
    labels: LabelSet,
    positive_label: str | None,
    of_sets: bool = False,
) -> Scores:
    """Check scores against their samples and labels.

    `n_samples` is None if the scores alone determine it. Columns with names are read by name, as
    `in_label_order` does. With `of_sets` there is one score per label. Raises `InvalidInput` for a
    wrong shape, a value that is not finite in float32, or scores of a single class if it is not
    known which class that is.
    """
    values = _as_float32(in_label_order(y_score, labels))
    if not of_sets:
        require_column_of(y_score, labels, positive_label)
    if n_samples is not None and values.shape[0] != n_samples:
        raise InvalidInput(
            f"there are {values.shape[0]} rows of scores for {n_samples} predictions.",
            field="y_score",
            hint="Give one row for each prediction.",
        )
    _require_columns(values, labels, positive_label, of_sets=of_sets)
    broken = ~np.isfinite(values)
    if broken.any():
        row, column = (int(place) for place in np.argwhere(broken)[0])
        raise InvalidInput(
            f"the score at index {row}, column {column} is {values[row, column]}.",
            field="y_score",
            hint="Scores are finite numbers that float32 can hold.",
        )
    return Scores(values)


# For complex numbers numpy would keep the real part, and only warn.
_NO_NUMBERS = {
    **dict.fromkeys("UST", "they are text"),
    **dict.fromkeys("Mm", "they are dates or durations"),
    "V": "they are records",
    "c": "they are complex",
}


def _as_float32(y_score: object) -> NDArray[np.float32]:
    try:
        given = _as_table(y_score)
        why = _NO_NUMBERS.get(given.dtype.kind)
        if why is None:
            numbers = given.astype(float) if given.dtype.kind == "O" else given
            floats = single_precision(numbers)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise _no_numbers(str(error)) from None
    if why is not None:
        raise _no_numbers(why)
    if floats.ndim == 1:
        return floats[:, np.newaxis]
    if floats.ndim != 2:
        raise InvalidInput(
            f"the shape is {floats.shape}.",
            field="y_score",
            hint="Give an array of shape (n,) or (n, K); join batches, as numpy.concatenate does.",
        )
    return floats


def _as_table(y_score: object) -> NDArray[Any]:
    """The array; a table for a column of lists. Raises what numpy raises."""
    given = np.asarray(readable(y_score))
    column = given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given
    if column.dtype.kind != "O" or column.ndim != 1 or not len(column):
        return given
    return np.array([*column]) if isinstance(column[0], (list, tuple, np.ndarray)) else given


def single_precision(numbers: NDArray[Any]) -> NDArray[np.float32]:
    """The numbers as they are stored, of any shape; too large ones become infinite.

    Numbers between 0 and 1 stay there: if rounding made a probability 0 or 1, its log loss would
    be infinite.
    """
    with np.errstate(over="ignore"):
        rounded = numbers.astype(np.float32)
    rounded[(rounded == 0) & (numbers > 0)] = ALMOST_ZERO
    rounded[(rounded == 1) & (numbers < 1)] = ALMOST_ONE
    return rounded


def _no_numbers(
    why: object, hint: str = "Give an array of shape (n,) or (n, K), or {class: scores}."
) -> InvalidInput:
    return InvalidInput(
        f"the scores cannot be read as numbers ({why}).", field="y_score", hint=hint
    )


def _require_columns(
    values: NDArray[np.float32], labels: LabelSet, positive_label: str | None, *, of_sets: bool
) -> None:
    n_columns, n_classes = values.shape[1], len(labels)
    if n_columns == 1 and n_classes == 2 and not of_sets:
        if positive_label is None:
            raise score_of_no_class(labels)
        return
    if n_columns != n_classes:
        raise InvalidInput(
            f"there are {n_columns} columns of scores for {n_classes} classes {labels.preview()}.",
            field="y_score",
            hint="Give one column for each class, in label order.",
        )


_FIELD = "y_score"
_HINT = "Give an array of finite numbers, of shape (n,) or (n, K) in label order."


def score_table(
    y_score: object, *, n_samples: int, labels: LabelSet | None = None
) -> NDArray[Any]:
    """Finite scores of shape (n, columns), float32 if given as float16 or float32.

    An array of shape (n,) becomes one column; columns with names are read by name, as
    `in_label_order` does. Raises `InvalidInput` for another shape, a value that is not finite
    (naming its row), and columns with names other than `labels`.
    """
    ordered = y_score if labels is None else in_label_order(y_score, labels, field=_FIELD)
    table = _floats(ordered)
    if table.ndim == 1:
        table = table[:, np.newaxis]
    if table.ndim != 2 or len(table) != n_samples:
        raise InvalidInput(
            f"the shape is {table.shape}, but there are {n_samples} samples.",
            field=_FIELD,
            hint=_HINT,
        )
    broken = ~np.isfinite(table)
    if broken.any():
        row, column = (int(place) for place in np.argwhere(broken)[0])
        raise InvalidInput(
            f"the score at index {row}, column {column} is {table[row, column]}.",
            field=_FIELD,
            hint="Scores are finite numbers; drop the sample or repair it.",
        )
    return table


def _floats(y_score: object) -> NDArray[Any]:
    try:
        array = _as_table(y_score)
    except ValueError:
        raise InvalidInput("the rows differ in length.", field=_FIELD, hint=_HINT) from None
    except (TypeError, RuntimeError) as error:
        raise _no_numbers(error, _HINT) from None
    if array.dtype.kind == "O":
        try:
            # A missing one becomes NaN and is reported with its position.
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise _no_numbers(error, _HINT) from None
    if array.dtype.kind not in "iubf":
        raise InvalidInput(
            f"values of type {array.dtype} are not scores.", field=_FIELD, hint=_HINT
        )
    narrow = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    return array.astype(np.float32 if narrow else np.float64, copy=False)


def predicted_from(
    scores: Scores, labels: LabelSet, positive_label: str | None
) -> tuple[pa.DictionaryArray, Mapping[str, Any]]:
    """The predicted class of each of n samples, and the rule as plain values.

    With a column per class it is the class with the highest score, of ties the first in label
    order; with one column the positive class from 0.5 on. The stored single precision decides, so
    that applying the rule to stored scores gives the same. Raises `InvalidInput` for one column of
    scores that are not probabilities, because their threshold is not known.
    """
    import pyarrow as pa

    names = pa.array(labels.names, pa.string())
    if scores.n_columns > 1 or len(labels) == 1 or positive_label is None:
        codes = scores.values.argmax(axis=_CLASS_AXIS)
        return _classes(codes, names), ARG_MAX
    score = scores.values[:, 0]
    outside = (score < 0) | (score > 1)
    if outside.any():
        index = int(np.argmax(outside))
        raise InvalidInput(
            f"the score at index {index} is {score[index]}, which is not a probability, and there "
            "are not predictions.",
            field="y_pred",
            hint="Give y_pred=, decided at a threshold that fits these scores.",
        )
    positive = labels.index[positive_label]
    codes = np.where(score >= THRESHOLD, positive, 1 - positive)
    return _classes(codes, names), at_threshold(positive_label)


def _classes(codes: np.ndarray[Any, Any], names: pa.Array) -> pa.DictionaryArray:
    import pyarrow as pa

    narrow = codes.astype(code_dtype(len(names)))
    return pa.DictionaryArray.from_arrays(pa.array(narrow), names)


def score_of_no_class(labels: LabelSet) -> InvalidInput:
    """The error for one score of two classes, if it is not known which one it is of."""
    return InvalidInput(
        f"one score for each sample is given, but not whether it is for "
        f"{labels.names[0]!r} or {labels.names[1]!r}.",
        field="positive_label",
        hint="Name the class whose score this is, in positive_label (command line: --positive).",
    )
