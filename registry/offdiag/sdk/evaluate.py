"""Evaluating in memory: no database, no server, nothing kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from offdiag.domain.labels import LabelSet, require_known
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix, confusion_matrix
from offdiag.metrics.counting import count_pairs
from offdiag.metrics.weighted import weighted_matrix
from offdiag.sdk.evaluation import Evaluation
from offdiag.sdk.weighted_evaluation import WeightedEvaluation

_ORIENTATIONS = (SourceOrientation.ACTUAL_ROWS.value, SourceOrientation.ACTUAL_COLUMNS.value)
_AXIS_NAMES = {
    ("actual", "predicted"): SourceOrientation.ACTUAL_ROWS,
    ("predicted", "actual"): SourceOrientation.ACTUAL_COLUMNS,
}


def evaluate_matrix(
    matrix: Any,
    *,
    labels: LabelSet | Iterable[object] | None = None,
    orientation: str,
    ordinal: bool = False,
) -> Evaluation:
    """Every metric of a confusion matrix of counts.

    `matrix` is (K, K) of non-negative whole numbers, nested lists, an array or a DataFrame.
    `orientation` says what its rows are and has no default, because a matrix cannot tell:
    "actual_rows" (scikit-learn, PyCM, TensorFlow) or "actual_columns" (R caret). `labels`
    names the classes in the order of the axes; without it they are the labels of a
    DataFrame's axes, else "0", "1", .... `ordinal` says that their order has a meaning.

    Raises `InvalidInput` for anything that is not such a matrix, for a DataFrame whose axes
    carry different labels, or are named "actual" and "predicted" against `orientation`.

    >>> evaluate_matrix([[8, 2], [1, 9]], orientation="actual_rows").aggregate["mcc"].value
    0.7035264706814485
    """
    require_known(orientation, _ORIENTATIONS, field_name="orientation")
    claimed = SourceOrientation(orientation)
    if labels is None:
        labels = _frame_labels(matrix)
    _refuse_contradiction(matrix, claimed)
    return Evaluation.of_matrix(
        confusion_matrix(matrix, labels=_label_set(labels, ordinal), orientation=claimed)
    )


@overload
def evaluate_labels(
    *,
    y_true: object,
    y_pred: object,
    labels: LabelSet | Iterable[object] | None = None,
    ordinal: bool = False,
    sample_weight: None = None,
) -> Evaluation: ...
@overload
def evaluate_labels(
    *,
    y_true: object,
    y_pred: object,
    labels: LabelSet | Iterable[object] | None = None,
    ordinal: bool = False,
    sample_weight: ArrayLike,
) -> WeightedEvaluation: ...
def evaluate_labels(
    *,
    y_true: object,
    y_pred: object,
    labels: LabelSet | Iterable[object] | None = None,
    ordinal: bool = False,
    sample_weight: ArrayLike | None = None,
) -> Evaluation | WeightedEvaluation:
    """Every metric of predicted classes beside the actual ones.

    Both are arrays of n labels (str, int or bool; lists, numpy, pandas, polars, pyarrow,
    tensors). `labels` declares the classes and their order; without it they are the sorted
    labels found in either array. `ordinal` says that their order has a meaning.
    `sample_weight`, n numbers of 0 or more, makes the matrix one of sums of weights; exact
    tests are then undefined, and nothing that needs counts takes the result.

    Raises `InvalidInput` for empty or unequal arrays, missing values, undeclared labels and
    unusable weights.

    >>> evaluation = evaluate_labels(y_true=["a", "a", "b"], y_pred=["a", "b", "b"])
    >>> evaluation.per_class["recall"]["a"].value
    0.5
    """
    from offdiag.arrays.labels import encode_pair

    pair = encode_pair(y_true=y_true, y_pred=y_pred, labels=labels, ordinal=ordinal)
    if sample_weight is not None:
        return WeightedEvaluation.of_matrix(
            weighted_matrix(pair.actual, pair.predicted, sample_weight, labels=pair.labels)
        )
    counts = count_pairs(pair.actual, pair.predicted, n_classes=len(pair.labels))
    return Evaluation.of_matrix(ConfusionMatrix(counts, pair.labels))


def _label_set(labels: LabelSet | Iterable[object] | None, ordinal: bool) -> LabelSet | None:
    if isinstance(labels, LabelSet):
        return labels
    if labels is not None:
        return LabelSet.declared(labels, ordinal=ordinal)
    if ordinal:
        raise InvalidInput(
            "an order was claimed but no labels were declared.",
            field="ordinal",
            hint="Give labels= in their order.",
        )
    return None


def _frame_labels(matrix: Any) -> list[object] | None:
    """The labels both axes of a DataFrame carry; None for anything else."""
    if not _is_frame(matrix):
        return None
    along_rows, along_columns = list(matrix.index), list(matrix.columns)
    if along_rows != along_columns:
        raise InvalidInput(
            "the index and the columns of the DataFrame carry different labels.",
            field="matrix",
            hint="Reindex both axes to one list of classes, or give labels=.",
        )
    return along_rows


def _refuse_contradiction(matrix: Any, claimed: SourceOrientation) -> None:
    if not _is_frame(matrix):
        return
    names = (matrix.index.name, matrix.columns.name)
    if _AXIS_NAMES.get(names, claimed) is not claimed:
        raise InvalidInput(
            f"{claimed.value!r} contradicts the axes of the DataFrame, "
            f"named {names[0]!r} and {names[1]!r}.",
            field="orientation",
            hint="Correct one of them.",
        )


def _is_frame(matrix: Any) -> bool:
    return not isinstance(matrix, np.ndarray) and all(
        hasattr(matrix, name) for name in ("index", "columns", "to_numpy")
    )
