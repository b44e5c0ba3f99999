"""Confusion matrices as they travel, in the orientation that was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.orientation import PREDICTED_AXIS, swap_axes
from offdiag.records.evaluation import Cell, Laid, MatrixAnswer, MatrixWanted, Normalization

LARGEST_DENSE = 1_000
"""Matrices up to this many classes travel in full, larger ones as their filled cells."""

_AXES = {Laid.ACTUAL_ROWS: ["actual", "predicted"], Laid.ACTUAL_COLUMNS: ["predicted", "actual"]}


def matrix_answer(
    run_id: str, matrix: ConfusionMatrix, digest: str, wanted: MatrixWanted
) -> MatrixAnswer:
    axes = _AXES[wanted.orientation]
    is_dense = matrix.n_classes <= LARGEST_DENSE
    return MatrixAnswer(
        run=run_id,
        labels=list(matrix.labels.names),
        orientation=wanted.orientation,
        axes=axes,
        normalize=wanted.normalize if is_dense else Normalization.NONE,
        divided_by=_divided_by(wanted.normalize, axes) if is_dense else None,
        n_cases=matrix.total,
        matrix=_laid_out(matrix, wanted) if is_dense else None,
        cells=None if is_dense else _cells(matrix),
        matrix_digest=digest,
    )


def _divided_by(how: Normalization, axes: list[str]) -> str | None:
    match how:
        case Normalization.NONE:
            return None
        case Normalization.ALL:
            return "all"
        case Normalization.ROW:
            return axes[0]
        case Normalization.COLUMN:
            return axes[1]


def _laid_out(matrix: ConfusionMatrix, wanted: MatrixWanted) -> list[list[int | float | None]]:
    counts, totals = matrix.counts, _totals(matrix, wanted)
    shares: NDArray[Any] = counts
    if totals is not None:
        filled = np.where(totals == 0, 1, totals)
        shares = np.where(totals == 0, np.nan, counts / filled)
    if wanted.orientation is Laid.ACTUAL_COLUMNS:
        shares = swap_axes(shares)
    if totals is None:
        return shares.tolist()  # type: ignore[no-any-return]  # whole numbers
    return [[None if share != share else share for share in row] for row in shares.tolist()]  # noqa: PLR0124 - NaN


def _totals(matrix: ConfusionMatrix, wanted: MatrixWanted) -> NDArray[np.int64] | None:
    """What each count is divided by, laid out so that it stretches over the counts."""
    divided_by = _divided_by(wanted.normalize, _AXES[wanted.orientation])
    if divided_by is None:
        return None
    if divided_by == "all":
        return np.asarray(matrix.total)
    if divided_by == "actual":
        return np.expand_dims(matrix.actual, PREDICTED_AXIS)
    return matrix.predicted


def _cells(matrix: ConfusionMatrix) -> list[Cell]:
    names = matrix.labels.names
    return [
        Cell(actual=names[a], predicted=names[p], count=int(matrix.counts[a, p]))
        for a, p in np.argwhere(matrix.counts).tolist()
    ]
