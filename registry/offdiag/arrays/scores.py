"""Scores of classes, as float32 columns in label order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.arrays.score_columns import in_label_order, require_column_of
from offdiag.arrays.tensors import readable
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of n cases.

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
    """Check scores against the cases and labels they belong to; `n_samples` is None where the
    scores alone say how many there are.

    Columns with names are read by name, as `in_label_order` does. Cases `of_sets` of labels have
    one score for each label. Raises `InvalidInput` for a wrong
    shape, a value that is not finite in float32, or scores of one class where it is
    not said which class that is.
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


def _as_float32(y_score: object) -> NDArray[np.float32]:
    try:
        given = np.asarray(readable(y_score))
        # Of complex numbers numpy would keep the real part, and only warn.
        is_complex = given.dtype.kind == "c"
        with np.errstate(over="ignore"):
            floats = given.real.astype(np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise _no_numbers(str(error)) from None
    if is_complex:
        raise _no_numbers("they are complex")
    if floats.ndim == 1:
        return floats[:, np.newaxis]
    if floats.ndim != 2:
        raise InvalidInput(
            f"the shape is {floats.shape}.",
            field="y_score",
            hint="Give an array of shape (n,) or (n, K).",
        )
    return floats


def _no_numbers(why: str) -> InvalidInput:
    return InvalidInput(
        f"the scores cannot be read as numbers ({why}).",
        field="y_score",
        hint="Give an array of shape (n,) or (n, K).",
    )


def _require_columns(
    values: NDArray[np.float32], labels: LabelSet, positive_label: str | None, *, of_sets: bool
) -> None:
    n_columns, n_classes = values.shape[1], len(labels)
    if n_columns == 1 and n_classes == 2 and not of_sets:
        if positive_label is None:
            raise InvalidInput(
                f"one score for each case is given, but not whether it is for "
                f"{labels.names[0]!r} or {labels.names[1]!r}.",
                field="positive_label",
                hint="Name the class whose score this is.",
            )
        return
    if n_columns != n_classes:
        raise InvalidInput(
            f"there are {n_columns} columns of scores for {n_classes} classes {labels.preview()}.",
            field="y_score",
            hint="Give one column for each class, in label order.",
        )
