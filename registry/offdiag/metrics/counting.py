"""Counting (actual, predicted) pairs into a confusion matrix.

This is the one loop over predictions, so it is written for the memory bus: codes stay as
narrow as they are stored, work proceeds in chunks that fit the second-level cache, and the
number of classes picks the kernel. All kernels return the same exact counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput

CHUNK = 262_144
"""Pairs counted at a time; 64 Ki to 512 Ki are equally fast, larger ones miss the cache."""


def count_pairs(
    actual: NDArray[Any], predicted: NDArray[Any], *, n_classes: int
) -> NDArray[np.int64]:
    """The (n_classes, n_classes) matrix of pairs, actual class along the first axis.

    `actual` and `predicted` are one-dimensional arrays of class codes 0 .. n_classes - 1 of
    equal length and of any unsigned integer type (the narrowest is the fastest). Memory
    beyond the result is bounded by the chunk, whatever the length.

    Raises `InvalidInput` for unequal lengths, other types and codes out of range.

    >>> count_pairs(np.array([0, 1, 1], np.uint8), np.array([0, 0, 1], np.uint8), n_classes=2)
    array([[1, 0],
           [1, 1]])
    """
    _require_codes(actual, field="actual")
    _require_codes(predicted, field="predicted")
    if actual.shape != predicted.shape:
        raise InvalidInput(
            f"{len(predicted)} predictions were given for {len(actual)} actual classes.",
            field="predicted",
            hint="Give one prediction for each case.",
        )
    size = CHUNK if n_classes <= 256 else max(CHUNK, 4 * n_classes * n_classes)
    counts = np.zeros((n_classes, n_classes), np.int64)
    for start in range(0, len(actual), size):
        actual_part = actual[start : start + size]
        predicted_part = predicted[start : start + size]
        _require_range(actual_part, n_classes, field="actual")
        _require_range(predicted_part, n_classes, field="predicted")
        counts += _count_chunk(actual_part, predicted_part, n_classes)
    return counts


def _count_chunk(
    actual: NDArray[Any], predicted: NDArray[Any], n_classes: int
) -> NDArray[np.int64]:
    if n_classes == 2:
        return _count_binary(actual, predicted)
    if n_classes <= 16:
        return _count_two_pairs_at_once(actual, predicted, n_classes)
    return _count_pair_codes(actual, predicted, n_classes)


def _count_binary(actual: NDArray[Any], predicted: NDArray[Any]) -> NDArray[np.int64]:
    """Three population counts; the fourth cell follows from the length."""
    is_actual = actual.astype(np.uint8, copy=False).view(np.bool_)
    is_predicted = predicted.astype(np.uint8, copy=False).view(np.bool_)
    both = np.count_nonzero(is_actual & is_predicted)
    n_actual = np.count_nonzero(is_actual)
    n_predicted = np.count_nonzero(is_predicted)
    neither = len(actual) - n_actual - n_predicted + both
    return np.array([[neither, n_predicted - both], [n_actual - both, both]], np.int64)


def _count_two_pairs_at_once(
    actual: NDArray[Any], predicted: NDArray[Any], n_classes: int
) -> NDArray[np.int64]:
    """Read two neighbouring one-byte pair codes as one two-byte code: half the increments.

    The joint histogram of neighbours is then added up over either neighbour. Which of the
    two bytes comes first in memory does not matter, because both marginals are added.
    """
    n_cells = n_classes * n_classes
    codes = _pair_codes(actual, predicted, n_classes, np.uint8)
    n_even = len(codes) // 2 * 2
    neighbours = np.bincount(codes[:n_even].view(np.uint16), minlength=(n_cells - 1) * 257 + 1)
    grid = np.zeros(n_cells * 256, np.int64)
    grid[: len(neighbours)] = neighbours
    table = grid.reshape(n_cells, 256)[:, :n_cells]
    cells: NDArray[np.int64] = table.sum(axis=0) + table.sum(axis=1)
    if n_even < len(codes):
        cells[codes[-1]] += 1
    return np.asarray(cells.reshape(n_classes, n_classes))


def _count_pair_codes(
    actual: NDArray[Any], predicted: NDArray[Any], n_classes: int
) -> NDArray[np.int64]:
    wide = np.uint16 if n_classes <= 256 else np.uint32
    codes = _pair_codes(actual, predicted, n_classes, wide)
    cells = np.bincount(codes, minlength=n_classes * n_classes)
    return np.asarray(cells.reshape(n_classes, n_classes), np.int64)


def _pair_codes(
    actual: NDArray[Any],
    predicted: NDArray[Any],
    n_classes: int,
    wide: type[np.unsignedinteger[Any]],
) -> NDArray[Any]:
    """actual * n_classes + predicted, in a type that just holds n_classes squared."""
    codes = actual.astype(wide, copy=True)
    codes *= wide(n_classes)
    codes += predicted.astype(wide, copy=False)
    return codes


def _require_codes(codes: NDArray[Any], *, field: str) -> None:
    if codes.ndim != 1 or codes.dtype.kind != "u":
        raise InvalidInput(
            f"an array of shape {codes.shape} and type {codes.dtype} holds no class codes.",
            field=field,
            hint="Give a one-dimensional array of unsigned integers.",
        )


def _require_range(codes: NDArray[Any], n_classes: int, *, field: str) -> None:
    if len(codes) and codes.max() >= n_classes:
        raise InvalidInput(
            f"class code {codes.max()} is out of range.",
            field=field,
            hint=f"Codes run from 0 to {n_classes - 1}.",
        )
